import Glibc
import Lanes
import TestKit
import Testing
import Wire

@Suite struct StartTests {
    private static let lane = Lane(name: "start")

    private static func sql(_ text: String, in database: String) async throws -> String {
        try await lane.run { () throws -> String in
            try PostgresCluster.shared.psql(text, database: database).filter { $0 != "\n" }
        }
    }

    private static func emptyDatabase() async throws -> String {
        try await lane.run { () throws -> String in try PostgresCluster.shared.createDatabase() }
    }

    private static func serve(on database: String, _ changes: [String: String] = [:]) async throws -> Binary.Outcome {
        let environment = try Template.environment(for: database)
        return try await Binary.run(["serve"], environment.merging(changes) { $1 })
    }

    @Test("Migrating twice applies everything once", .timeLimit(.minutes(5)))
    func migrateTwice() async throws {
        let database = try await Self.emptyDatabase()
        let environment = try Template.environment(for: database)
        let first = try await Binary.run(["migrate"], environment)
        #expect(first.exit == .status(0))
        let applied = first.output.split(separator: "\n").filter { $0.hasPrefix("applied ") }
        #expect(applied.count == Int(try await Self.sql("SELECT count(*) FROM schema_migration", in: database)))
        #expect(applied.first?.hasPrefix("applied migration 1 ") == true)
        let second = try await Binary.run(["migrate"], environment)
        #expect(second.exit == .status(0))
        #expect(second.output == "the schema is up to date\n")
        try await Template.drop(database)
    }

    @Test(
        "Two that migrate at once take turns: both succeed, and each migration is applied once", .timeLimit(.minutes(5))
    )
    func migrateAtOnce() async throws {
        let database = try await Self.emptyDatabase()
        let environment = try Template.environment(for: database)
        async let first = Binary.run(["migrate"], environment)
        async let second = Binary.run(["migrate"], environment)
        let outcomes = try await [first, second]
        #expect(outcomes.map(\.exit) == [.status(0), .status(0)])
        let lines = outcomes.flatMap { $0.output.split(separator: "\n") }
        let applied = lines.filter { $0.hasPrefix("applied ") }
        #expect(Set(applied).count == applied.count)
        #expect(applied.count == Int(try await Self.sql("SELECT count(*) FROM schema_migration", in: database)))
        #expect(lines.count - applied.count == 2, "both say that the schema is up to date")
        try await Template.drop(database)
    }

    @Test("A server on a database without the schema says to run migrate", .timeLimit(.minutes(5)))
    func unmigrated() async throws {
        let database = try await Self.emptyDatabase()
        let outcome = try await Self.serve(on: database)
        #expect(outcome.exit == .status(1))
        #expect(outcome.complaints.count == 1)
        #expect(outcome.errors.contains("run enfilade migrate"))
        for arguments in [["restored"], ["admin", "create", "--username", "root", "--password-file", "/etc/hostname"]] {
            let refused = try await Binary.run(arguments, try Template.environment(for: database))
            #expect(refused.exit == .status(1))
            #expect(refused.errors.contains("run enfilade migrate"), "\(refused.errors)")
        }
        try await Template.drop(database)
    }

    @Test("A newer schema is served from, unless one of its migrations is breaking", .timeLimit(.minutes(5)))
    func newerSchema() async throws {
        let database = try await Template.shared.copy()
        let insert = "INSERT INTO schema_migration (version, name, checksum, is_breaking, applied_at) VALUES "
        _ = try await Self.sql(insert + "(9001, 'expansion', '\\x00', false, now())", in: database)
        let server = try await ServerProcess.start(on: database)
        #expect(try await server.makeClient().send("GET", "/readyz").status == 200)
        let migration = try await Binary.run(["migrate"], try Template.environment(for: database))
        #expect(migration.exit == .status(0))
        _ = try await Self.sql(insert + "(9002, 'contraction', '\\x00', true, now())", in: database)
        #expect(try await server.makeClient().send("GET", "/readyz").status == 503)
        #expect(await server.stop() == .status(0))
        for verb in ["serve", "migrate"] {
            let outcome = try await Binary.run([verb], try Template.environment(for: database))
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.contains("contraction, which needs a newer enfilade"))
        }
        try await Template.drop(database)
    }

    @Test("A migration that was applied with other content stops the start", .timeLimit(.minutes(5)))
    func altered() async throws {
        let database = try await Template.shared.copy()
        _ = try await Self.sql("UPDATE schema_migration SET checksum = '\\x00' WHERE version = 2", in: database)
        for verb in ["serve", "migrate"] {
            let outcome = try await Binary.run([verb], try Template.environment(for: database))
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.contains("other content"))
        }
        try await Template.drop(database)
    }

    @Test(
        "A port that is taken, an address that is none, a key that is missing: one line and exit status 1",
        .timeLimit(.minutes(5)))
    func faults() async throws {
        let database = try await Template.shared.copy()
        let server = try await ServerProcess.start(on: database)
        let faults = [
            ("ENFILADE_LISTEN", "127.0.0.1:\(server.port)", "port \(server.port) is in use"),
            ("ENFILADE_LISTEN", "nowhere:8080", "nowhere is no IPv4 or IPv6 address"),
            ("ENFILADE_LISTEN", "192.0.2.1:8080", "this machine has no address 192.0.2.1"),
            ("ENFILADE_ROOT_KEY_FILE", "/nonexistent/key", "no root key at /nonexistent/key"),
            ("ENFILADE_ROOT_KEY_FILE", "/dev", "/dev is not a regular file"),
        ]
        for (name, value, complaint) in faults {
            let outcome = try await Self.serve(on: database, [name: value])
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("enfilade: \(complaint)"), "\(outcome.errors)")
        }
        #expect(await server.stop() == .status(0))
        try await Template.drop(database)
    }

    @Test("Another root key than the one the database was made with is refused at start", .timeLimit(.minutes(5)))
    func otherKey() async throws {
        let scratch = try Scratch()
        let database = try await Template.shared.copy()
        let server = try await ServerProcess.start(on: database)
        #expect(await server.stop() == .status(0))
        let key = scratch.path + "/other-key"
        #expect(try await Binary.run(["key", "create", key]).exit == .status(0))
        let outcome = try await Self.serve(on: database, ["ENFILADE_ROOT_KEY_FILE": key])
        #expect(outcome.exit == .status(1))
        #expect(outcome.complaints.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("root key"), "\(outcome.errors)")
        try await Template.drop(database)
    }

    @Test("An administrator is made once; what is wrong with the name or the password is said", .timeLimit(.minutes(5)))
    func administrator() async throws {
        let scratch = try Scratch()
        let database = try await Template.shared.copy()
        let environment = try Template.environment(for: database)
        let password = try scratch.write("a long enough password\n", to: "password")
        let short = try scratch.write("short\n", to: "short")
        func create(_ name: String, _ file: String) async throws -> Binary.Outcome {
            let verb = ["admin", "create", "--username", name, "--password-file", file]
            return try await Binary.run(verb, environment)
        }
        let first = try await create("root", password)
        #expect(first.exit == .status(0))
        #expect(first.output.hasPrefix("created account "))
        for (name, file, complaint) in [
            ("root", password, "another account has this username"),
            ("ROOT", password, "another account has this username"),
            ("no spaces", password, "/username "), ("other", short, "/password "),
            ("other", "/nonexistent", "/nonexistent cannot be read"), ("other", "-", "/password "),
        ] {
            let outcome = try await create(name, file)
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.hasPrefix("enfilade: \(complaint)"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("short"))
        }
        let accounts = "SELECT string_agg(username, ',' ORDER BY username) FROM account"
        #expect(try await Self.sql(accounts, in: database) == "admin,root")
        let server = try await ServerProcess.start(on: database)
        let root = try await server.signIn(
            "root", password: "a long enough password", app: "enfilade-cli", scope: "openid admin")
        #expect(try await root.get("/v1/accounts").status == 200)
        #expect(await server.stop() == .status(0))
        try await Template.drop(database)
    }

    @Test(
        "After a restore everybody has to sign in again, and devices are told that the past has changed",
        .timeLimit(.minutes(5)))
    func restored() async throws {
        let database = try await Template.shared.copy()
        var server = try await ServerProcess.start(on: database)
        let cast = try await Cast.enrol(on: server, senders: 1, receivers: [1])
        var reader = try await EventReader.open(cast.receivers[0].owner)
        #expect(try await cast.senders[0].send("before", to: cast.receivers[0]).status == 201)
        let cursor = try await reader.next("message").lastEventID
        #expect(await server.stop() == .status(0))
        let outcome = try await Binary.run(["restored"], try Template.environment(for: database))
        #expect(outcome.exit == .status(0))
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first == "2 mailboxes have a new epoch")
        #expect(lines.dropFirst().first?.hasPrefix("3 sessions have ended") == true)
        #expect(lines.dropFirst(2).first?.hasPrefix("2 devices are enrolled") == true)
        let entry = "SELECT actor_kind, after FROM audit_entry WHERE action = 'backup.restored'"
        #expect(
            try await Self.sql(entry, in: database) == #"operator|{"mailboxes":2,"sessions":3,"devices":2}"#)
        server = try await ServerProcess.start(on: database)
        let old = cast.receivers[0]
        #expect(try await old.owner.at(server).get("/v1/session").status == 401)
        let form = FormCoding.encode([
            ("grant_type", "refresh_token"), ("refresh_token", old.owner.refreshToken ?? ""), ("client_id", "chat"),
        ])
        #expect(try await server.makeClient().post(form: form, to: "/oauth2/token").status == 400)
        let owner = try await server.signIn("receiver0", app: "chat")
        #expect(try await owner.enrol(old.identity, old.agreementKey).status == 200, "the same device")
        reader = try await EventReader.open(owner, after: cursor)
        #expect(try await reader.next().event == "gap")
        reader.close()
        #expect(await server.stop() == .status(0))
        try await Template.drop(database)
    }
}
