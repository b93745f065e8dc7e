import TestKit
import Testing
import Wire

/// The log over HTTP, with a database.
@Suite struct EntryTests {
    @Test("What was done is listed in order without holes, with who did it")
    func listed() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            try await server.makeApp("suite-app", by: admin)
            let person = try await server.makePerson("ada", by: admin)
            let log = try await Log(admin).until("account.created", target: person.description)
            #expect(log.entries.compactMap { $0["index"]?.integer } == (0..<Int64(log.entries.count)).map { $0 })
            let entry = try #require(log.entries.last { $0["action"]?.text == "account.created" })
            #expect(entry["outcome"]?.text == "success")
            #expect(entry["actor"]?["kind"]?.text == "account")
            #expect(entry["actor"]?["id"]?.text == admin.account.description)
            #expect(entry["session"]?.text == admin.session.description)
            #expect(entry["app"]?.text == "enfilade-cli")
            #expect(entry["after"]?.fields != nil)
            #expect(!log.text.contains("ada-password"))
        }
    }

    @Test("A refused sign-in is there, and every filter finds what it names and nothing else")
    func filters() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            try await server.makeApp("suite-app", by: admin)
            let ada = try await server.makePerson("ada", by: admin)
            _ = try? await server.signIn("ada", password: "wrong", app: "suite-app")
            let log = try await Log(admin).until("session.refused")
            let all = log.entries
            let questions: [(String, (JSON) -> Bool)] = [
                ("actor=\(admin.account)", { $0["actor"]?["id"]?.text == admin.account.description }),
                ("target=\(ada.description.uppercased())", { $0["target"]?["id"]?.text == ada.description }),
                ("outcome=refused", { $0["outcome"]?.text == "refused" }),
                ("action=account.created", { $0["action"]?.text == "account.created" }),
                ("action=session.*", { $0["action"]?.text?.hasPrefix("session.") == true }),
                ("action=session.*&outcome=refused", { $0["action"]?.text == "session.refused" }),
                (
                    "action=session.*&actor=\(admin.account)",
                    {
                        $0["action"]?.text?.hasPrefix("session.") == true
                            && $0["actor"]?["id"]?.text == admin.account.description
                    }
                ),
                ("action=no.such", { _ in false }),
                ("from=2001-01-01T00:00:00Z&to=2999-01-01T00:00:00Z", { _ in true }),
                ("to=2001-01-01T00:00:00Z", { _ in false }),
                ("from=2999-01-01T00:00:00Z", { _ in false }),
            ]
            for (query, isWanted) in questions {
                let page = try await admin.get("/v1/audit/entries?limit=200&\(query)")
                let found = page["items"]?.items?.filter { ($0["index"]?.integer ?? 0) < Int64(all.count) } ?? []
                #expect(found == all.filter(isWanted), "\(query)")
                #expect(page["next"]?.text != nil)
            }
        }
    }

    @Test("next leads through the log, also through pages that a filter leaves empty, and is where polling goes on")
    func paging() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            for name in ["ada", "bob", "cem"] { _ = try await server.makePerson(name, by: admin) }
            let log = try await Log(admin).until("account.created", count: 4)
            var next = "0"
            var seen: [Int64] = []
            while seen.count < log.entries.count - 1 {
                let page = try await admin.get("/v1/audit/entries?limit=2&after=\(next)")
                seen += page["items"]?.items?.compactMap { $0["index"]?.integer } ?? []
                next = try #require(page["next"]?.text)
            }
            #expect(seen.starts(with: (1..<Int64(log.entries.count)).map { $0 }))
            let empty = try await admin.get("/v1/audit/entries?action=no.such")
            #expect(empty["items"]?.items == [])
            let end = try #require(empty["next"]?.text)
            _ = try await server.makePerson("dan", by: admin)
            let new = try await Log(admin).until("account.created", after: end)
            #expect(new.entries.allSatisfy { ($0["index"]?.integer ?? 0) >= Int64(log.entries.count) })
        }
    }

    @Test(
        "What cannot be asked is refused and named",
        arguments: [
            ("after=x", "?after"), ("after=i-1", "?after"), ("after=900000", "?after"), ("action=*", "?action"),
            ("outcome=maybe", "?outcome"), ("from=yesterday", "?from"), ("to=1", "?to"), ("actor=", "?actor"),
            ("target=a%20b", "?target"), ("limit=0", "?limit"), ("limit=201", "?limit"), ("order=desc", "?order"),
            ("actor=a&actor=b", "?actor"),
        ])
    func refused(query: String, pointer: String) async throws {
        let admin = try await Reader.one.admin()
        let answer = try await admin.get("/v1/audit/entries?\(query)")
        #expect(answer.status == 400)
        #expect(answer["errors"]?.items?.compactMap { $0["pointer"]?.text } == [pointer])
    }

    @Test("Reading is itself in the log: once a minute for the same question, however often it is asked")
    func reading() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            for _ in 0..<5 { #expect(try await admin.get("/v1/audit/entries?action=app.*").status == 200) }
            #expect(try await reads(server) == 1)
            server.clock.advance(by: .seconds(61))
            #expect(try await admin.get("/v1/audit/entries?action=app.*").status == 200)
            #expect(try await reads(server) == 2)
            let log = try await Log(admin).until("audit.read")
            let entry = try #require(log.entries.last { $0["action"]?.text == "audit.read" && $0["after"] != nil })
            #expect(entry["after"] == ["action": "app.*"])
        }
    }

    @Test("Two nodes give every act of both one index, without holes and without doubles")
    func twoNodes() async throws {
        try await TestServer.with { server in
            let second = try await TestServer.start(on: server.database)
            let admin = try await server.signInAdmin()
            let bearer = [("Authorization", "Bearer \(admin.accessToken)")]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in [server, second] {
                    for _ in 0..<3 {
                        group.addTask {
                            let client = Client(port: node.port)
                            for _ in 0..<15 {
                                let answer = try await client.send("GET", "/v1/accounts", headers: bearer)
                                #expect(answer.status == 200)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let log = try await Log(admin).until("account.read", count: 90)
            let indexes = log.entries.compactMap { $0["index"]?.integer }
            #expect(indexes == (0..<Int64(indexes.count)).map { $0 })
            #expect(Set(log.entries.compactMap { $0["id"]?.text }).count == indexes.count)
            await second.stop()
        }
    }

    @Test("Members may not read the log, auditors may")
    func roles() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            try await server.makeApp("suite-app", scopes: ["openid", "audit", "config"], by: admin)
            _ = try await server.makePerson("ada", by: admin)
            _ = try await server.makePerson("eve", role: "auditor", by: admin)
            let scope = "openid audit config"
            let ada = try await server.signIn("ada", password: "ada-password", app: "suite-app", scope: scope)
            #expect(try await ada.get("/v1/audit/entries").status == 403)
            let eve = try await server.signIn("eve", password: "eve-password", app: "suite-app", scope: scope)
            #expect(try await eve.get("/v1/audit/entries").status == 200)
        }
    }

    @Test(
        "The server's own role can neither change nor delete what is in the log",
        arguments: ["UPDATE %", "DELETE FROM %", "TRUNCATE %"])
    func immutable(verb: String) async throws {
        let database = try await Template.shared.copy()
        for table in ["audit_entry", "audit_leaf"] {
            let statement = verb.replacing("%", with: table) + (verb.hasPrefix("UPDATE") ? " SET action = 'x'" : "")
            await #expect(throws: (any Error).self) {
                try await PostgresCluster.shared.psql("SET ROLE enfilade_app; \(statement)", database: database)
            }
        }
        try await PostgresCluster.shared.dropDatabase(database)
    }

    private func reads(_ server: TestServer) async throws -> Int? {
        let text = try await PostgresCluster.shared.psql(
            "SELECT count(*) FROM audit_entry WHERE action = 'audit.read'", database: server.database)
        return Int(text.prefix { $0.isNumber })
    }
}

/// A reader for questions that are refused, shared since they leave nothing behind.
private actor Reader {
    static let one = Reader()
    private var making: Task<SignedIn, any Error>?

    func admin() async throws -> SignedIn {
        let task = making ?? Task { try await TestServer.start().signInAdmin() }
        making = task
        return try await task.value
    }
}

/// Reads the log until something is in it: entries are put in order a moment after their act.
private struct Log {
    let reader: SignedIn
    var entries: [JSON] = []
    var text = ""

    init(_ reader: SignedIn) { self.reader = reader }

    func until(
        _ action: String, target: String? = nil, count: Int = 1, after: String? = nil
    ) async throws -> Log {
        var log = self
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let page = try await reader.get("/v1/audit/entries?limit=200" + (after.map { "&after=\($0)" } ?? ""))
            log.entries = page["items"]?.items ?? []
            log.text = page.text
            let found = log.entries.filter { entry in
                entry["action"]?.text == action && (target == nil || entry["target"]?["id"]?.text == target)
            }
            if found.count >= count { return log }
        }
        throw TestServer.Fault("\(action) is not in the log: \(log.text)")
    }
}
