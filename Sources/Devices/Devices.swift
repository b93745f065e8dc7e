public import API
public import Domain
public import Store

/// Devices: what people enrol, with public keys that the device made itself, and the lists that senders encrypt for.
///
/// It owns the tables `device` and `device_list`. It sees public keys only: there is no field for a private one anywhere.
/// A device outlives its sessions; removing it is final for its identity key. It never changes what a mailbox holds,
/// except by opening it and closing it with everything in it.
public struct Devices: Sendable {
    public struct Settings: Sendable {
        /// Devices that one account may have at once.
        public var maximumDevices = 50
        /// Enrolments and changes: each is in the audit log for ever.
        public var changes = Rate("devices", per: .account, burst: 30, every: .seconds(10))

        public init() {}
    }

    private let database: Database
    private let issuer: String
    private let settings: Settings
    private let changes: RateLimit<AccountID>

    /// Makes the room of a server that calls itself `issuer`; devices sign that name when they enrol.
    public init(database: Database, issuer: String, settings: Settings = Settings()) {
        self.database = database
        self.issuer = issuer
        self.settings = settings
        changes = RateLimit(settings.changes)
    }

    public var endpoints: [Mounted] {
        [
            EnrolDevice(database: database, issuer: issuer, maximumDevices: settings.maximumDevices, limit: changes)
                .mounted,
            ListDevices(database: database).mounted,
            ReadDevice(database: database).mounted,
            ChangeDevice(database: database, limit: changes).mounted,
            RemoveDevice(database: database).mounted,
            ReadDeviceList(database: database).mounted,
        ]
    }

    public var services: [any Service] { [] }
}
