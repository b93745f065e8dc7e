import Application
import Crypto
import Domain
import TestKit
import Testing
import Wire

@Suite struct AuditTests {
    @Test("Every deed there is appears in the log with its outcome, and only refusals are refused")
    func everyDeed() async throws {
        try await TestServer.with { server in
            let story = try await Story.tell(on: server)
            let entries = try await story.auditor.wholeLog()
            let refusals: Set<Deed.Action> = [
                .sessionRefused, .refreshTokenReused, .authorizationCodeReused, .deviceRefused,
            ]
            for action in Deed.Action.allCases {
                let found = entries.filter { $0["action"]?.text == action.rawValue }
                #expect(!found.isEmpty, "\(action.rawValue) is not in the log")
                let outcomes = Set(found.compactMap { $0["outcome"]?.text })
                #expect(outcomes == [refusals.contains(action) ? "refused" : "success"], "\(action.rawValue)")
            }
            let known = Set(Deed.Action.allCases.map(\.rawValue))
            #expect(Set(entries.compactMap { $0["action"]?.text }).subtracting(known) == [])
        }
    }

    @Test("Each entry says who did it to what, with which app, in which session and for which request")
    func particulars() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let admin = cast.admin.owner
            let answer = try await admin.call(
                "PATCH", "/v1/accounts/\(cast.other.owner.account)", ["displayName": "Robert"],
                headers: [("If-Match", "\"1\""), ("Request-Id", "the-request")])
            #expect(answer.status == 200)
            let entry = try #require(try await cast.auditor.owner.wholeLog("action=account.changed").first)
            #expect(entry["actor"] == ["kind": "account", "id": .string(admin.account.description)])
            #expect(entry["target"] == ["kind": "account", "id": .string(cast.other.owner.account.description)])
            #expect(entry["app"]?.text == Cast.app)
            #expect(entry["session"]?.text == admin.session.description)
            #expect(entry["requestId"]?.text == "the-request")
            #expect(entry["before"]?["displayName"]?.text == "Bob")
            #expect(entry["after"]?["displayName"]?.text == "Robert")
            let time = try #require(entry["time"]?.text.flatMap(Instant.init(rfc3339:)))
            #expect(server.clock.now().duration(since: time) < .seconds(60))
            #expect(entry["id"]?.text.flatMap(UUID.init) != nil)
        }
    }

    @Test("Indexes are given without a hole from 0 on, and no entry is left out")
    func contiguous() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            var sessions: [SignedIn] = []
            for _ in 0..<8 { sessions.append(try await server.signInAdmin()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in sessions {
                    group.addTask { for _ in 0..<5 { try await server.makeApp(freshName(), by: session) } }
                }
                try await group.waitForAll()
            }
            let indexes = try await admin.wholeLog().compactMap { $0["index"]?.integer }
            #expect(indexes == Array(0..<Int64(indexes.count)))
            let written = try await server.sql("SELECT count(*) FROM audit_entry WHERE action <> 'audit.read'")
            let listed = try await admin.wholeLog().filter { $0["action"]?.text != "audit.read" }
            #expect("\(listed.count)\n" == written)
        }
    }

    @Test("Nothing that was secret in a whole story is anywhere in the log")
    func secrets() async throws {
        try await TestServer.with { server in
            let story = try await Story.tell(on: server)
            let log = try await server.sql("SELECT t::text FROM audit_entry t")
            #expect(log.contains("account.created"))
            for secret in story.secrets {
                #expect(secret.utf8.count > 5)
                #expect(!log.contains(secret), "\(secret)")
            }
        }
    }

    @Test("No secret is in the database either but as a hash, or sealed")
    func secretsAtRest() async throws {
        try await TestServer.with { server in
            let story = try await Story.tell(on: server)
            let tables = try await server.sql(
                """
                SELECT table_name FROM information_schema.tables
                WHERE table_schema = 'public' AND table_name NOT IN ('configuration_revision', 'schema_migration')
                """)
            for table in tables.split(separator: "\n") {
                let rows = try await server.sql("SELECT t::text FROM \(table) t")
                for secret in story.secrets where !story.stored.contains(secret) {
                    #expect(!rows.contains(secret), "\(table): \(secret)")
                    #expect(!rows.contains(Hex.encode(Array(secret.utf8))), "\(table): \(secret)")
                    if let bytes = Base64URL.decode(secret) { #expect(!rows.contains(Hex.encode(bytes)), "\(table)") }
                }
            }
        }
    }

    @Test(
        "The server's role can neither change nor remove what is in the log, nor what guards it",
        arguments: [
            "UPDATE audit_entry SET action = 'x'", "UPDATE audit_entry SET reason = NULL WHERE false",
            "DELETE FROM audit_entry", "DELETE FROM audit_entry WHERE false", "TRUNCATE audit_entry",
            "TRUNCATE audit_entry CASCADE", "UPDATE audit_leaf SET index = index + 1", "DELETE FROM audit_leaf",
            "TRUNCATE audit_leaf", "SELECT 1 FROM audit_entry FOR UPDATE",
            "UPDATE audit_pending SET entry_id = entry_id", "DELETE FROM audit_pending",
            "INSERT INTO audit_pending (entry_id) SELECT entry_id FROM audit_leaf LIMIT 1",
            "INSERT INTO audit_leaf (index, entry_id, occurred_at, action, outcome) "
                + "SELECT 1000000000000000, id, occurred_at, action, outcome FROM audit_entry LIMIT 1",
            "CREATE OR REPLACE FUNCTION audit_sequence(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'",
            "SELECT audit_enqueue()", "DROP TRIGGER audit_entry_enqueue ON audit_entry",
            "UPDATE configuration_revision SET content = '{}'",
            "TRUNCATE audit_pending", "DROP TABLE audit_leaf", "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
            "ALTER TABLE audit_entry OWNER TO enfilade_app",
            "CREATE TABLE audit_entry_copy (x int)", "SET ROLE enfilade_owner",
            "SET SESSION AUTHORIZATION enfilade_owner",
            "INSERT INTO audit_leaf SELECT * FROM audit_leaf ON CONFLICT (index) DO UPDATE SET action = 'x'",
            "MERGE INTO audit_leaf a USING audit_leaf b ON a.index = b.index WHEN MATCHED THEN DELETE",
            "CREATE RULE nothing AS ON INSERT TO audit_entry DO INSTEAD NOTHING",
            "COPY audit_entry TO PROGRAM 'true'", "DELETE FROM schema_migration",
        ])
    func role(statement: String) async throws {
        let server = try await Shared.server.cast().server
        do {
            _ = try await server.sql(statement, as: .app)
            Issue.record("enfilade_app may: \(statement)")
        } catch {
            let words = "\(error)"
            #expect(words.contains("permission denied") || words.contains("must be"), "\(words)")
        }
    }

    @Test("A table of the same name in front of the queue takes no entry out of it")
    func shadowedQueue() async throws {
        // No server runs on it, whose sequencer would be at work as well.
        let database = try await Template.shared.copy()
        let cluster = try PostgresCluster.shared
        let id = "00000000-0000-7000-8000-000000000001"
        _ = try await cluster.psql(
            """
            CREATE TEMPORARY TABLE audit_pending (position bigint, entry_id uuid);
            CREATE TEMPORARY TABLE audit_leaf (index bigint, entry_id uuid);
            INSERT INTO audit_entry (id, occurred_at, action, outcome, actor_kind)
            VALUES ('\(id)', now(), 'account.read', 'success', 'system');
            SELECT audit_sequence(100)
            """, database: database, role: .app)
        let found = "SELECT count(*) FROM audit_leaf WHERE entry_id = '\(id)'"
        #expect(try await cluster.psql(found, database: database) == "1\n")
        try await cluster.dropDatabase(database)
    }

    @Test("The server's role does add entries, and owns nothing")
    func roleAdds() async throws {
        let server = try await Shared.server.cast().server
        #expect(try await server.sql("SELECT count(*) > 5 FROM audit_leaf", as: .app) == "t\n")
        // PostgreSQL only warns of rights that cannot be given on.
        _ = try await server.sql("GRANT UPDATE, DELETE, TRUNCATE ON audit_entry, audit_leaf TO enfilade_app", as: .app)
        let gained = try await server.sql(
            """
            SELECT bool_or(has_table_privilege('enfilade_app', t, 'UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES'))
            FROM unnest(ARRAY['audit_entry', 'audit_leaf']) AS t
            """)
        #expect(gained == "f\n")
        let owned = try await server.sql("SELECT count(*) FROM pg_class WHERE relowner = 'enfilade_app'::regrole")
        #expect(owned == "0\n")
        let rights = try await server.sql(
            "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls FROM pg_roles WHERE rolname = 'enfilade_app'"
        )
        #expect(rights == "f\n")
    }

    @Test("Each filter leaves exactly the entries that the whole log has of it, and filters add up")
    func filters() async throws {
        try await TestServer.with { server in
            let story = try await Story.tell(on: server)
            let auditor = story.auditor
            let all = try await auditor.wholeLog()
            let ada = story.member.account.description
            let middle = try #require(all[all.count / 2]["time"]?.text)
            let filters: [(String, (JSON) -> Bool)] = [
                ("action=session.started", { $0["action"]?.text == "session.started" }),
                ("action=session.*", { $0["action"]?.text?.hasPrefix("session.") == true }),
                ("action=nothing.such", { _ in false }),
                ("outcome=refused", { $0["outcome"]?.text == "refused" }),
                ("actor=\(ada)", { $0["actor"]?["id"]?.text == ada }),
                ("actor=\(ada.uppercased())", { $0["actor"]?["id"]?.text == ada }),
                ("target=\(ada)", { $0["target"]?["id"]?.text == ada }),
                ("target=\(story.app)", { $0["target"]?["id"]?.text == story.app }),
                ("from=\(middle)", { $0["time"]?.text ?? "" >= middle }),
                ("to=\(middle)", { $0["time"]?.text ?? "" < middle }),
                (
                    "actor=\(ada)&action=device.*&outcome=success",
                    {
                        $0["actor"]?["id"]?.text == ada && $0["outcome"]?.text == "success"
                            && $0["action"]?.text?.hasPrefix("device.") == true
                    }
                ),
            ]
            let last = try #require(all.last?["index"]?.integer)
            for (query, matches) in filters {
                let found = try await auditor.wholeLog(query).filter { $0["index"]?.integer ?? 0 <= last }
                #expect(found == all.filter(matches), "\(query)")
                #expect(found.count < all.count)
            }
        }
    }

    @Test("Pages of any size make up the whole log, and next goes on with what comes later")
    func paging() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            for _ in 0..<5 { try await server.makeApp(freshName(), by: admin) }
            let whole = try await admin.wholeLog("action=app.created")
            #expect(whole.count == 5)
            for limit in [1, 2, 5, 200] {
                #expect(try await admin.wholeLog("action=app.created", limit: limit) == whole)
            }
            let end = try #require(try await admin.page("action=app.created&limit=200")["next"]?.text)
            #expect(try await admin.page("action=app.created&after=\(end)")["items"]?.items == [])
            try await server.makeApp("later", by: admin)
            let entries = try await admin.untilListed("action=app.created&after=\(end)")
            #expect(entries.map { $0["target"]?["id"]?.text } == ["later"])
            let index = try #require(whole[2]["index"]?.integer)
            let behind = try await admin.page("action=app.created&after=\(index)")["items"]?.items ?? []
            #expect(Array(behind.prefix(2)) == Array(whole[3...]))
        }
    }

    @Test("When an act cannot be written down it does not happen")
    func failClosed() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let made = try await server.sql("SELECT count(*) FROM app")
            _ = try await server.sql("REVOKE INSERT ON audit_entry FROM enfilade_app")
            let body: JSON = [
                "id": "unwritten", "name": "x", "kind": "app", "redirectUris": [], "scopes": ["openid"],
            ]
            let answer = try await admin.call("POST", "/v1/apps", body)
            #expect(answer.status == 500)
            #expect(!answer.text.contains("audit") && !answer.text.contains("permission"))
            #expect(try await admin.get("/v1/accounts").status == 500)
            #expect(try await admin.get("/v1/audit/entries?action=app.created").status == 500)
            #expect(try await server.sql("SELECT count(*) FROM app") == made)
            let wrong = try? await server.signIn("admin", password: "wrong password", app: "enfilade-cli")
            #expect(wrong == nil)
            _ = try await server.sql("GRANT INSERT ON audit_entry TO enfilade_app")
            #expect(try await admin.call("POST", "/v1/apps", body).status == 201)
        }
    }
}

extension SignedIn {
    func page(_ query: String) async throws -> Client.Answer {
        let answer = try await get("/v1/audit/entries?\(query)")
        guard answer.status == 200 else { throw TestServer.Fault("audit: \(answer.status) \(answer.text)") }
        return answer
    }

    /// All entries that a query finds once everything written has its place, page by page.
    func wholeLog(_ query: String = "", limit: Int = 100) async throws -> [JSON] {
        try await untilSequenced()
        var entries: [JSON] = []
        var after = "i0"
        while true {
            let page = try await page("\(query)&limit=\(limit)&after=\(after)")
            let items = page["items"]?.items ?? []
            entries += items
            guard items.count == limit, let next = page["next"]?.text else { return entries }
            after = next
        }
    }

    /// The first entries of a query that has none yet; empty after five seconds.
    func untilListed(_ query: String) async throws -> [JSON] {
        let deadline = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < deadline {
            let items = try await page(query)["items"]?.items ?? []
            if !items.isEmpty { return items }
        }
        return []
    }

    private func untilSequenced() async throws {
        try await until("every entry has its place", within: .seconds(10)) {
            try await server.sql("SELECT count(*) FROM audit_pending") == "0\n"
        }
    }
}
