import API
import Accounts
import Audit
import Configuration
import Crypto
import Devices
import Domain
import HTTP
import Lanes
import Login
import Mailboxes
import Postgres
import Store
import Synchronization
import Updates
import Wire

/// The one place where rooms are put together.
final class Wiring: Sendable {
    let settings: Settings
    let observe: Observe
    let pool: Pool
    /// A connection that no request uses: what keeps this node able to serve must not stand in line behind them.
    private let reserve: Pool
    let updates: Updates
    let figures: LiveFigures
    let isDraining = Atomic(false)

    private let proxies: TrustedProxies
    private let bell: Bell
    private let gate: Gate
    private let login: Login
    private let accounts: Accounts
    private let devices: Devices
    private let mailboxes: Mailboxes
    private let configuration: Configuration
    private let audit: Audit
    private let migrator: Migrator
    private let clockWatch: ClockWatch
    private let databaseCheck: SharedCheck
    private let passwordLanes: LaneGroup
    private let entropy = SystemEntropy()
    private let clock: any Clock
    private let requestIDs: RequestIDs

    /// - Throws: `RootKeyFault` when the root key cannot be read.
    init(
        _ settings: Settings, clock: any Clock, machine: any Clock, log: @escaping Observe, key given: RootKey? = nil
    ) throws {
        self.settings = settings
        self.clock = clock
        requestIDs = RequestIDs(clock: clock, entropy: entropy)
        let metrics = Metrics()
        let observe: Observe = { observation in
            metrics.note(observation)
            log(observation)
        }
        self.observe = observe
        let key = try given ?? RootKey.load(path: settings.rootKeyFile)
        var lanes = Pool.Settings(conninfo: settings.databaseURL)
        lanes.lanes = settings.lanes
        lanes.statementTimeout = settings.statementTimeout
        lanes.lockTimeout = settings.lockTimeout
        lanes.longestLine = .milliseconds(settings.longestWait)
        pool = Pool(lanes)
        lanes.lanes = 1
        lanes.applicationName = "enfilade reserve"
        lanes.statementTimeout = 2_000
        reserve = Pool(lanes)
        bell = Bell(conninfo: settings.databaseURL, node: entropy.uuid(at: clock.now()), observe: observe)
        migrator = Migrator(pool: reserve)
        let database = Database(pool: pool, bell: bell, clock: clock, entropy: entropy)
        let kept = Database(pool: reserve, bell: bell, clock: clock, entropy: entropy)
        // People who sign in wait longer than programs do.
        passwordLanes = LaneGroup(
            name: "argon2id", count: settings.passwordLanes, waiting: settings.passwordLanes * 32,
            longestLine: .milliseconds(settings.longestWait) * 2)
        let passwords = Passwords(lanes: passwordLanes, cost: settings.passwordCost)
        proxies = TrustedProxies(settings.trustedProxies) ?? .none
        login = Login(
            database: database, reserve: kept, issuer: settings.issuer, keys: key, passwords: passwords,
            proxies: proxies,
            settings: settings.login, observe: observe)
        accounts = Accounts(database: database, passwords: passwords, settings: settings.accounts)
        devices = Devices(database: database, issuer: settings.issuer, settings: settings.devices)
        mailboxes = Mailboxes(database: database, limits: settings.mailboxLimits, observe: observe)
        configuration = Configuration(database: database, limits: settings.configurationLimits)
        audit = Audit(database: database, observe: observe)
        updates = Updates(
            database: database, sources: [mailboxes.updates, configuration.updates], settings: settings.updates,
            observe: observe)
        clockWatch = ClockWatch(database: kept, clock: machine, observe: observe)
        databaseCheck = SharedCheck { [migrator, clockWatch] () async throws(Failure) in
            try await Self.check(migrator, clockWatch)
        }
        gate = Gate(
            authenticator: login.authenticator, requests: settings.requests, clock: clock, observe: observe)
        figures = LiveFigures(
            metrics: metrics, pool: pool, passwords: passwordLanes, mailboxes: mailboxes, audit: audit,
            clock: clockWatch)
    }

    /// Runs all services until the task is cancelled; each is told to stop and waited for.
    func run() async {
        let services =
            [bell, clockWatch] + login.services + accounts.services + devices.services + mailboxes.services
            + configuration.services + audit.services + updates.services
        await withTaskGroup { group in
            for service in services { group.addTask { await service.run() } }
        }
    }

    /// Waits for the database, checks the schema and reads what must be known before the first request.
    func prepare(isCancelled: @Sendable () -> Bool) async throws -> Bool {
        var isFaltering = false
        while !isCancelled() {
            do throws(Failure) {
                try await migrator.standing().check()
                try await login.prepare()
                if isFaltering { observe(.recovered(task: "start")) }
                return true
            } catch {
                switch error {
                case .unavailable, .busy: break
                default: throw error
                }
                if !isFaltering { observe(.faltered(task: "start", cause: "waiting for the database: \(error.cause)")) }
                isFaltering = true
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        return false
    }

    func close(_ services: Task<Void, Never>) async {
        services.cancel()
        await services.value
        await stopPools()
    }

    func startPools() {
        pool.start()
        reserve.start()
    }

    func stopPools() async {
        await pool.stop()
        await reserve.stop()
    }

    func makeRouter() throws -> Router {
        try Router(endpoints.map { $0.within(settings.bodyBytes) }.map { ($0.route, $0.handler(gate)) })
    }

    func makeServer() throws -> Server {
        var server = settings.server
        server.isProxy = { [proxies] in proxies.isTrusted($0) }
        server.client = { [proxies] in proxies.client(of: $0) }
        return make(server, try makeRouter())
    }

    /// Health and metrics on a listener of their own: they answer whatever happens at the other.
    func makeMonitor() throws -> Server? {
        guard let monitor = settings.monitor else { return nil }
        let endpoints = [
            ShowHealth().mounted, readiness.mounted,
            ShowMetrics(token: nil, page: { [figures] in figures.page() }).mounted,
        ]
        return make(monitor, try Router(endpoints.map { ($0.route, $0.handler(gate)) }))
    }

    private func make(_ settings: Server.Settings, _ router: Router) -> Server {
        Server(
            settings: settings, router: router,
            refuse: { refusal, id in Problem.response(to: refusal, requestID: id) },
            observe: { [observe] exchange in observe(.request(RequestObservation(exchange))) },
            requestID: { [requestIDs] headers in requestIDs.choose(headers) },
            decorate: { response, head in response.decorate(for: head) })
    }

    private var endpoints: [Mounted] {
        system + login.endpoints + accounts.endpoints + devices.endpoints + mailboxes.endpoints
            + configuration.endpoints + audit.endpoints + updates.endpoints
    }

    /// What a node must have found of its database before requests are sent here.
    private static func check(_ migrator: Migrator, _ clock: ClockWatch) async throws(Failure) {
        guard try await migrator.standing().isUsable else { throw .unavailable(cause: "the schema is not up to date") }
        guard try await clock.measure().magnitude <= ClockWatch.bearable else {
            throw .unavailable(cause: "this machine's clock and the database's differ by more than a minute")
        }
    }

    private var system: [Mounted] {
        let open = [
            ShowHealth().mounted, readiness.mounted, ShowDocument().mounted,
            ShowCapabilities(settings: settings).mounted,
        ]
        guard let token = settings.metricsToken else { return open }
        return open + [ShowMetrics(token: token, page: { [figures] in figures.page() }).mounted]
    }

    private var readiness: ShowReadiness {
        ShowReadiness(
            isDraining: { [self] in isDraining.load(ordering: .relaxed) }, isFresh: { [login] in login.isFresh },
            check: databaseCheck)
    }
}
