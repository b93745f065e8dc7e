package import Application
import Crypto
package import Domain
import Glibc
import Lanes
import Synchronization
import Wire

/// A whole server in this process, on a free port, with a database of its own.
package final class TestServer: Site {
    package let database: String
    package let clock: ManualClock
    /// The machine's clock, which only readiness looks at.
    package let machine: ManualClock
    package let client: Client
    package let settings: Settings
    private let application: Application
    private let observed: Observed

    package static let adminPassword = "correct horse battery staple"

    package var port: Int { application.port }
    package var monitorPort: Int? { application.monitorPort }
    package var issuer: String { settings.issuer }
    package var observations: [Observation] { observed.all }
    /// Held by what observes, and so for as long as any part of the server is in memory.
    package var witness: AnyObject { observed }

    private init(
        database: String, clock: ManualClock, machine: ManualClock, settings: Settings, application: Application,
        observed: Observed
    ) {
        self.database = database
        self.clock = clock
        self.machine = machine
        self.settings = settings
        self.application = application
        self.observed = observed
        client = Client(port: application.port)
    }

    /// Starts a server on a fresh copy of the migrated database that holds the administrator `admin`.
    package static func start(_ change: (inout Settings) -> Void = { _ in }) async throws -> TestServer {
        let database = try await Template.shared.copy()
        return try await start(on: database, change)
    }

    /// Starts another node on a database that exists.
    package static func start(
        on database: String, _ change: (inout Settings) -> Void = { _ in }
    ) async throws -> TestServer {
        var settings = try Template.settings(for: database)
        change(&settings)
        let (clock, machine) = (ManualClock(SystemClock()), ManualClock(SystemClock()))
        let observed = Observed()
        let application = try await Application.start(
            settings, clock: clock, machine: machine, observe: { observed.add($0) })
        guard let application else { throw Fault("the server gave up starting") }
        return TestServer(
            database: database, clock: clock, machine: machine, settings: settings, application: application,
            observed: observed)
    }

    package func stop() async { await application.stop() }

    /// Runs a body against a server and stops it, whatever happens.
    package static func with<R: Sendable>(
        _ change: (inout Settings) -> Void = { _ in }, _ body: (TestServer) async throws -> R
    ) async throws -> R {
        let server = try await start(change)
        do {
            let result = try await body(server)
            await server.stop()
            try await Template.drop(server.database)
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    package struct Fault: Error {
        package let what: String
        package init(_ what: String) { self.what = what }
    }
}

/// What a server said of itself.
private final class Observed: Sendable {
    private let list = Mutex<[Observation]>([])

    var all: [Observation] { list.withLock { $0 } }

    func add(_ observation: Observation) { list.withLock { $0.append(observation) } }
}

/// The migrated database that every test copies, made once.
package actor Template {
    package static let shared = Template()

    private var made: Task<String, any Error>?

    /// A new database with the schema and the administrator.
    package func copy() async throws -> String {
        let template = try await template()
        return try await Self.lane.run { () throws -> String in
            try PostgresCluster.shared.createDatabase(template: template)
        }
    }

    /// Drops a test's database; nobody may be connected to it any more.
    package static func drop(_ database: String) async throws {
        try await lane.run { () throws in try PostgresCluster.shared.dropDatabase(database) }
    }

    /// The cluster's calls block, and tests run on few threads.
    private static let lane = Lane(name: "cluster")

    private func template() async throws -> String {
        if let made { return try await made.value }
        let task = Task { try await Self.make() }
        made = task
        return try await task.value
    }

    private static func make() async throws -> String {
        let name = try await lane.run { () throws -> String in try PostgresCluster.shared.createDatabase() }
        let owner = Owner(try settings(for: name))
        _ = try await owner.migrate(observe: { _ in })
        _ = try await owner.createAdministrator(
            username: "admin", displayName: "Administrator", password: TestServer.adminPassword)
        return name
    }

    package static func settings(for database: String) throws -> Settings {
        let cluster = try PostgresCluster.shared
        var settings = Settings()
        settings.databaseURL = cluster.conninfo(database: database, role: .app)
        settings.ownerDatabaseURL = cluster.conninfo(database: database, role: .owner)
        settings.publicURL = "http://enfilade.test"
        settings.listenPort = 0
        settings.rootKeyFile = rootKeyFile
        settings.metricsToken = "metrics-token-of-the-tests"
        settings.lanes = 4
        settings.workers = 4
        settings.passwordMemory = 8
        settings.drainSeconds = 5
        // Tests do in a moment what takes people a day; those about limits set their own.
        settings.rateLimitPercent = 0
        return settings
    }

    /// The environment of a server in a process of its own.
    package static func environment(for database: String) throws -> [String: String] {
        let settings = try settings(for: database)
        return [
            "ENFILADE_DATABASE_URL": settings.databaseURL, "ENFILADE_OWNER_DATABASE_URL": settings.ownerDatabaseURL,
            "ENFILADE_PUBLIC_URL": settings.publicURL, "ENFILADE_LISTEN": "127.0.0.1:0",
            "ENFILADE_ROOT_KEY_FILE": settings.rootKeyFile, "ENFILADE_LANES": "4", "ENFILADE_HTTP_WORKERS": "4",
            "ENFILADE_PASSWORD_MIB": "8", "ENFILADE_RATE_LIMIT_PERCENT": "0",
        ]
    }

    /// One key for all databases of this run: the template's rows are made with it.
    private static let rootKeyFile: String = {
        let path = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/enfilade-test-key-\(getpid())"
        unlink(path)
        do { try RootKey.create(path: path) } catch { return "" }
        // Kept open and nowhere else: it goes with this process, however that ends.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        unlink(path)
        return "/proc/\(getpid())/fd/\(descriptor)"
    }()
}
