import Accounts
import Crypto
public import Domain
import Lanes
import Postgres
public import Store

/// What whoever runs the machine may do without signing in, through the database itself.
public struct Owner: Sendable {
    private let settings: Settings

    public init(_ settings: Settings) { self.settings = settings }

    public func migrate(observe: @escaping Observe) async throws -> Migrator.Standing {
        try await connected { (pool) async throws(Failure) in try await Migrator(pool: pool).migrate(observe: observe) }
    }

    public func createAdministrator(
        username: String, displayName: String, password: String
    ) async throws -> AccountID {
        let lanes = LaneGroup(name: "argon2id", count: 1, waiting: 1)
        let passwords = Passwords(lanes: lanes, cost: settings.passwordCost)
        return try await connected { (pool) async throws(Failure) in
            try await Migrator(pool: pool).standing().check()
            return try await Accounts.createAdministrator(
                username: username, displayName: displayName, password: password, passwords: passwords,
                in: database(pool))
        }
    }

    public func markRestored() async throws -> Restoration {
        try await connected { (pool) async throws(Failure) in
            try await Migrator(pool: pool).standing().check()
            return try await Restoration.perform(in: database(pool))
        }
    }

    public static func createKey(at path: String) throws { try RootKey.create(path: path) }

    private func database(_ pool: Pool) -> Database {
        let entropy = SystemEntropy()
        let bell = Bell(conninfo: url, node: entropy.uuid(at: SystemClock().now()), observe: { _ in })
        return Database(pool: pool, bell: bell, clock: SystemClock(), entropy: entropy)
    }

    private var url: String { settings.ownerDatabaseURL.isEmpty ? settings.databaseURL : settings.ownerDatabaseURL }

    private func connected<R: Sendable>(
        _ work: @Sendable (Pool) async throws(Failure) -> R
    ) async throws -> R {
        var lanes = Pool.Settings(conninfo: url)
        lanes.lanes = 1
        lanes.applicationName = "enfilade owner"
        // Index builds of a migration may take long.
        lanes.statementTimeout = 0
        let pool = Pool(lanes)
        pool.start()
        do throws(Failure) {
            let result = try await work(pool)
            await pool.stop()
            return result
        } catch {
            await pool.stop()
            throw error
        }
    }
}
