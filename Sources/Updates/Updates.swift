public import API
public import Domain
public import Store
import Synchronization

/// Updates: one stream for everything that a session may hear of, merged from the sources that features make.
///
/// Knows no feature: what a message or a configuration is, only its source knows.
public final class Updates: Sendable {
    public struct Settings: Sendable {
        public var streamsPerDevice = 4
        public var streamsPerAccount = 32
        /// How often tables are looked at for what no bell told.
        public var pollInterval = Duration.seconds(2)

        public init() {}
    }

    private let database: Database
    private let sources: [any UpdateSource]
    private let settings: Settings
    private let observe: Observe
    private let registry: Registry
    private let bells: BellRoom
    private let draining = Flag()

    public init(
        database: Database, sources: [any UpdateSource], settings: Settings, observe: @escaping Observe
    ) {
        self.database = database
        self.sources = sources
        self.settings = settings
        self.observe = observe
        let registry = Registry(
            streamsPerDevice: settings.streamsPerDevice, streamsPerAccount: settings.streamsPerAccount)
        self.registry = registry
        let bells = BellRoom(registry: registry, sources: sources)
        self.bells = bells
        database.bell.listen { doorbell, origin in bells.ring(doorbell, from: origin) }
    }

    public var endpoints: [Mounted] {
        [
            OpenStream(database: database, sources: sources, registry: registry, observe: observe, draining: draining)
                .mounted
        ]
    }

    public var services: [any Service] {
        [Poll(registry: registry, sources: sources, interval: settings.pollInterval, observe: observe)]
    }

    /// From now on a stream that is asked for says goodbye at once; open ones are ended by the server.
    public func drain() { draining.raise() }
}

/// Something that is raised once.
final class Flag: Sendable {
    private let state = Atomic(false)

    var isRaised: Bool { state.load(ordering: .relaxed) }

    func raise() { state.store(true, ordering: .relaxed) }
}
