internal import Glibc
internal import Lanes

/// A throw-away PostgreSQL cluster for tests: own directory, Unix socket only, nothing synced to disk.
///
/// It ends with the process that made it, however that ends. Calls block while the programs of PostgreSQL run.
package final class PostgresCluster: Sendable {
    package enum Role: String, Sendable {
        case owner = "enfilade_owner"
        case app = "enfilade_app"
        case superuser = "postgres"
    }

    package enum StopMode: String, Sendable {
        case fast, immediate
    }

    package enum Fault: Error {
        case notLocal(String)
        /// The cluster was started by someone else, who also stops it.
        case notOurs
        case system(String)
    }

    private static let first = Result { try PostgresCluster.forThisRun() }

    /// The cluster of this test process: that of `TEST_POSTGRES_SOCKET_DIR` when given, else one of its own.
    package static var shared: PostgresCluster {
        get throws { try first.get() }
    }

    package let socketDirectory: String
    private let isOurs: Bool
    private let ownSettings: String
    private var data: String { socketDirectory + "/data" }

    /// Makes and starts a cluster of its own, for tests that stop it.
    ///
    /// `settings` are lines of postgresql.conf, `walDirectory` an empty folder that PostgreSQL may write to.
    package init(settings: String = "", walDirectory: String? = nil) throws {
        PostgresCluster.removeLeftovers()
        socketDirectory = try PostgresCluster.makeDirectory()
        isOurs = true
        ownSettings = settings
        let initdb = [Tools.path("initdb"), "-D", data, "-U", "postgres", "-A", "trust"]
        let elsewhere = walDirectory.map { ["--waldir", $0, "--wal-segsize", "1"] } ?? []
        try Tools.run(initdb + elsewhere + ["-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"])
        try PostgresCluster.append(configuration, to: data + "/postgresql.conf")
        try watch()
        try start()
        try createRoles()
    }

    private init(socketDirectory: String) throws {
        guard socketDirectory.hasPrefix("/") else { throw Fault.notLocal(socketDirectory) }
        self.socketDirectory = socketDirectory
        isOurs = false
        ownSettings = ""
        try createRoles()
    }

    private static func forThisRun() throws -> PostgresCluster {
        guard let directory = environment("TEST_POSTGRES_SOCKET_DIR") else { return try PostgresCluster() }
        return try PostgresCluster(socketDirectory: directory)
    }

    package func conninfo(database: String, role: Role = .app) -> String {
        "host=\(socketDirectory) port=5432 dbname=\(database) user=\(role.rawValue)"
    }

    /// Makes a database that belongs to the owner role and returns its name.
    @available(*, noasync)
    package func createDatabase(template: String = "template0") throws -> String {
        let name = "test_\(String(UInt64.random(in: .min ... .max), radix: 36))"
        try psql("CREATE DATABASE \(name) TEMPLATE \(template) OWNER enfilade_owner STRATEGY FILE_COPY")
        return name
    }

    @available(*, noasync)
    package func dropDatabase(_ name: String) throws {
        try psql("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Runs SQL, as superuser unless told otherwise, and returns the rows, unaligned.
    @available(*, noasync)
    @discardableResult
    package func psql(
        _ text: String, database: String = "postgres", role: Role = .superuser
    ) throws -> String {
        let options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        let place = ["-h", socketDirectory, "-p", "5432", "-U", role.rawValue, "-d", database]
        return try Command([Tools.path("psql")] + options + place + ["-c", text]).run()
    }

    package func start() throws {
        guard isOurs else { throw Fault.notOurs }
        try Tools.run([Tools.path("pg_ctl"), "-D", data, "-l", data + "/server.log", "-w", "-s", "start"])
    }

    package func stop(_ mode: StopMode = .fast) throws {
        guard isOurs else { throw Fault.notOurs }
        try Tools.run([Tools.path("pg_ctl"), "-D", data, "-m", mode.rawValue, "-w", "-s", "stop"])
    }

    /// The server and all its backends stand still, or go on; they neither end nor answer meanwhile.
    package func freeze(_ isFrozen: Bool) throws {
        guard isOurs else { throw Fault.notOurs }
        let script = #"p=$(head -n 1 "$1/postmaster.pid"); pkill "-$2" -P "$p"; kill "-$2" "$p""#
        try Command(["sh", "-c", script, "sh", data, isFrozen ? "STOP" : "CONT"]).run()
    }

    package func restart(_ mode: StopMode = .fast) throws {
        try stop(mode)
        try start()
    }
}

// The same for tests that are asynchronous: programs are waited for on lanes, since tests run on as many threads as there are
// processors, and who blocks one of them holds up everybody else's answers.
extension PostgresCluster {
    private static let lanes = [Lane(name: "cluster-1"), Lane(name: "cluster-2")]

    private func aside<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        let lane = Self.lanes.randomElement() ?? Self.lanes[0]
        return try await lane.run { () throws -> R in try work() }
    }

    package func createDatabase(template: String = "template0") async throws -> String {
        try await aside { try self.createDatabase(template: template) }
    }

    package func dropDatabase(_ name: String) async throws {
        try await aside { try self.dropDatabase(name) }
    }

    /// Asks again when it was turned away at the door: where a crowd storms the server, even a superuser can find every
    /// process slot taken by those who are about to be turned away.
    @discardableResult
    package func psql(
        _ text: String, database: String = "postgres", role: Role = .superuser
    ) async throws -> String {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do {
                return try await aside { try self.psql(text, database: database, role: role) }
            } catch let fault as Command.Fault where fault.description.contains("too many clients already") {
                guard ContinuousClock.now < end else { throw fault }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

extension PostgresCluster {
    private static let prefix = "enfilade-pg-"

    private var configuration: String {
        """
        listen_addresses = ''
        port = 5432
        unix_socket_directories = '\(socketDirectory)'
        max_connections = 1000
        shared_buffers = 128MB
        fsync = off
        full_page_writes = off
        wal_level = minimal
        max_wal_senders = 0
        deadlock_timeout = 100ms
        \(ownSettings)

        """
    }

    private func createRoles() throws {
        for role in [Role.owner, .app] {
            try psql(
                """
                DO $$ BEGIN CREATE ROLE \(role.rawValue) LOGIN;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
                """)
        }
    }

    /// Leaves a small script that outlives this process and then ends and removes the cluster.
    private func watch() throws {
        let script = #"read -r _; "$1" -D "$2/data" -m immediate -s stop; rm -rf "$2""#
        let arguments = ["setsid", "sh", "-c", script, "sh", Tools.path("pg_ctl"), socketDirectory]
        try Command(Tools.unprivileged + arguments).leave()
    }

    private static var parent: String { environment("TMPDIR") ?? "/tmp" }

    private static func makeDirectory() throws -> String {
        guard let path = makeTemporaryFolder(prefix) else { throw Fault.system("no directory in \(parent)") }
        if geteuid() == 0 { try Command(["chown", "postgres:", path]).run() }
        return path
    }

    /// What crashed runs left behind a day or more ago.
    private static func removeLeftovers() {
        let script = #"""
            find "$1" -maxdepth 1 -type d -name "$2*" -mtime +0 | while read -r old; do
                "$3" -D "$old/data" -m immediate -s stop; rm -rf "$old"
            done
            """#
        let arguments = ["sh", "-c", script, "sh", parent, prefix, Tools.path("pg_ctl")]
        // Somebody else's leftovers are no reason to fail.
        _ = try? Command(Tools.unprivileged + arguments).run()
    }

    private static func append(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_APPEND)
        guard file >= 0 else { throw Fault.system("\(path) cannot be written") }
        defer { close(file) }
        let count = Array(text.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard count == text.utf8.count else { throw Fault.system("\(path) cannot be written") }
    }
}

/// PostgreSQL's own programs, which refuse to run as root.
private enum Tools {
    static let unprivileged: [String] =
        geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []

    private static let directory: String = {
        let debian = "/usr/lib/postgresql/15/bin"
        guard access(debian + "/initdb", X_OK) != 0 else { return debian }
        let found = try? Command(["pg_config", "--bindir"]).run()
        return found.map { $0.split(separator: "\n").first.map(String.init) ?? debian } ?? debian
    }()

    static func path(_ program: String) -> String { "\(directory)/\(program)" }

    static func run(_ arguments: [String]) throws {
        try Command(unprivileged + arguments).run()
    }
}

private func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
