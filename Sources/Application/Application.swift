import API
import Accounts
import Audit
import Configuration
import Crypto
import Devices
public import Domain
import HTTP
import Lanes
import Login
import Mailboxes
import Postgres
import Store
import Synchronization
import Updates

/// The whole server: every room wired together, started in order and stopped in reverse.
public final class Application: Sendable {
    private let wiring: Wiring
    private let server: Server
    private let monitor: Server?
    private let services: Mutex<Task<Void, Never>?>

    private init(wiring: Wiring, server: Server, monitor: Server?, services: Task<Void, Never>) {
        self.wiring = wiring
        self.server = server
        self.monitor = monitor
        self.services = Mutex(services)
    }

    public var port: Int { server.port }
    public var monitorPort: Int? { monitor?.port }

    /// Starts everything and returns once requests are served.
    ///
    /// Waits for PostgreSQL as long as it takes, unless `isCancelled` says to give up: then the answer is `nil`. A
    /// schema that is not up to date, a root key that cannot be read or a port that is taken is an error at once.
    /// `machine` is the machine's own clock, which is compared with the database's; tests move `clock` alone.
    public static func start(
        _ settings: Settings, clock: any Clock, machine: any Clock = SystemClock(), observe log: @escaping Observe,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) async throws -> Application? {
        let wiring = try Wiring(settings, clock: clock, machine: machine, log: log)
        // First and until the end, so that whoever watches sees the waiting and the draining too.
        let monitor = try wiring.makeMonitor()
        try monitor?.start()
        do {
            let application = try await start(wiring, monitor, isCancelled)
            if application == nil { await monitor?.drain(grace: .zero) }
            return application
        } catch {
            await monitor?.drain(grace: .zero)
            throw error
        }
    }

    private static func start(
        _ wiring: Wiring, _ monitor: Server?, _ isCancelled: @Sendable () -> Bool
    ) async throws -> Application? {
        wiring.startPools()
        guard try await prepared(wiring, isCancelled) else { return nil }
        // Not before: on a database that cannot be served from, each would only complain in its own way.
        let services = Task { await wiring.run() }
        do {
            let server = try wiring.makeServer()
            try server.start()
            wiring.figures.attach(server)
            wiring.observe(.started(address: server.address?.description ?? "", version: Program.version))
            wiring.settings.advise(wiring.observe)
            return Application(wiring: wiring, server: server, monitor: monitor, services: services)
        } catch {
            await wiring.close(services)
            throw error
        }
    }

    private static func prepared(_ wiring: Wiring, _ isCancelled: @Sendable () -> Bool) async throws -> Bool {
        do {
            let isReady = try await wiring.prepare(isCancelled: isCancelled)
            if !isReady { await wiring.stopPools() }
            return isReady
        } catch {
            await wiring.stopPools()
            throw error
        }
    }

    /// Stops in reverse: readiness turns red, accepting ends, streams say goodbye, requests finish, the rest follows.
    public func stop() async {
        let services = services.withLock { task in
            defer { task = nil }
            return task
        }
        guard let services else { return }
        wiring.observe(.draining)
        wiring.isDraining.store(true, ordering: .relaxed)
        wiring.updates.drain()
        await server.drain(grace: .seconds(wiring.settings.drainSeconds))
        await wiring.close(services)
        await monitor?.drain(grace: .seconds(1))
        wiring.figures.attach(nil)
        wiring.observe(.stopped)
    }

    /// Every route, sorted, as METHOD and pattern.
    public static func routes() throws -> [(method: String, pattern: String)] {
        var settings = Settings()
        settings.metricsToken = "only to list the route"
        let wiring = try Wiring(
            settings, clock: SystemClock(), machine: SystemClock(), log: { _ in },
            key: RootKey(SecretBytes(random: RootKey.size)))
        return try wiring.makeRouter().table.map { ($0.0.rawValue, $0.1) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }
}
