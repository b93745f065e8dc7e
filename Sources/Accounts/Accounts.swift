public import API
public import Crypto
public import Domain
public import Store

/// Accounts: people and apps as the administrator keeps them, and the directory in which members find each other.
///
/// It owns the tables `account` and `app`. It never signs anybody in, makes no token, and never tells whether a password
/// exists. Everything here but the directory needs scope `admin`.
public struct Accounts: Sendable {
    public struct Settings: Sendable {
        public var directory = Rate("directory", per: .account, burst: 30, every: .seconds(1))

        public init() {}
    }

    private let database: Database
    private let passwords: Passwords
    private let directoryLimit: RateLimit<AccountID>

    public init(database: Database, passwords: Passwords, settings: Settings = Settings()) {
        self.database = database
        self.passwords = passwords
        directoryLimit = RateLimit(settings.directory)
    }

    public var endpoints: [Mounted] {
        [
            ListAccounts(database: database).mounted,
            CreateAccount(database: database, passwords: passwords).mounted,
            ReadAccount(database: database).mounted,
            ChangeAccount(database: database, passwords: passwords).mounted,
            FindAccount(database: database, limit: directoryLimit).mounted,
            ListApps(database: database).mounted,
            CreateApp(database: database).mounted,
            ReadApp(database: database).mounted,
            ReplaceApp(database: database).mounted,
            RemoveApp(database: database).mounted,
        ]
    }

    public var services: [any Service] { [] }
}
