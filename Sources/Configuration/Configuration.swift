public import API
public import Domain
public import Store

/// Configuration: the values that administrators publish to an app, and what its devices report about them.
///
/// It owns the tables `configuration`, `configuration_revision` and `configuration_report`. A revision never changes:
/// going back makes a new one. It never looks into a value, and never writes one into the audit log: they may be secret.
public final class Configuration: Sendable {
    public struct Limits: Sendable {
        /// The encoded values of an app.
        public var bytes = 256 * 1024
        /// Reports: each that says something new is in the audit log for ever.
        public var reports = Rate("reports", per: .device, burst: 30, every: .seconds(10))

        public init() {}
    }

    private let database: Database
    private let limits: Limits
    private let shelf: PublishedShelf
    private let patches: PatchShelf
    private let reports: RateLimit<DeviceID>

    public init(database: Database, limits: Limits = Limits()) {
        self.database = database
        self.limits = limits
        reports = RateLimit(limits.reports)
        shelf = PublishedShelf(database: database)
        patches = PatchShelf(database: database)
    }

    public var endpoints: [Mounted] {
        [
            ReadConfiguration(shelf: shelf).mounted,
            ReportConfiguration(database: database, limit: reports).mounted,
            ReadAppConfiguration(database: database).mounted,
            PublishConfiguration(database: database, limit: limits.bytes).mounted
                .limited(to: limits.bytes + PublishConfiguration.margin),
            ListRevisions(database: database).mounted,
            ReadRevision(database: database).mounted,
            RollBackConfiguration(database: database).mounted,
            ListReports(database: database).mounted,
        ]
    }

    public var services: [any Service] { [shelf] }

    /// What the event stream carries of configuration.
    public var updates: any UpdateSource {
        ConfigurationUpdates(database: database, shelf: shelf, patches: patches)
    }
}
