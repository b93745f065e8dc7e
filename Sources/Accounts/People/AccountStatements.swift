import Domain
import Postgres
import Store
import Wire

private let columns: SQL = """
    id, username, display_name, role, password_hash IS NOT NULL, disabled_at, created_at, updated_at, version
    """

extension Query<DirectoryEntry> {
    static func directoryEntry(_ username: Username) -> Self {
        Query(
            """
            SELECT id, display_name
            FROM account
            WHERE username = \(username.text) AND disabled_at IS NULL
            """
        ) { row throws(PostgresError) in DirectoryEntry(account: try row[0], displayName: try row[1]) }
    }
}

extension Transaction {
    func account(_ id: AccountID) throws(Failure) -> Account? {
        try first(
            """
            SELECT \(columns)
            FROM account
            WHERE id = \(id)
            """, Account.init(row:))
    }

    /// An account for changing it.
    func lockAccount(_ id: AccountID) throws(Failure) -> Account? {
        try first(
            """
            SELECT \(columns)
            FROM account
            WHERE id = \(id)
            FOR NO KEY UPDATE
            """, Account.init(row:))
    }

    /// Those who can sign in and administer, locked so that two who disable each other take turns.
    func lockAdministrators() throws(Failure) -> [AccountID] {
        try query(
            """
            SELECT id
            FROM account
            WHERE role = 'admin' AND disabled_at IS NULL AND password_hash IS NOT NULL
            ORDER BY id
            FOR NO KEY UPDATE
            """
        ) { row throws(PostgresError) in try row[0] as AccountID }
    }

    /// In the order of their making, which is that of their ids.
    func accounts(after: AccountID?, limit: Int) throws(Failure) -> [Account] {
        let start: SQL = if let after { "WHERE id > \(after)" } else { "" }
        return try query(
            """
            SELECT \(columns)
            FROM account
            \(start)
            ORDER BY id
            LIMIT \(limit)
            """, Account.init(row:))
    }

    /// Somebody who can be written to.
    func insert(_ account: Account, passwordHash: String?) throws(Failure) {
        try execute(
            """
            INSERT INTO account (id, username, display_name, role, password_hash, disabled_at, created_at, updated_at,
                                 version)
            VALUES (\(account.id), \(account.username), \(account.displayName), \(account.role.rawValue),
                    \(passwordHash), \(account.disabledAt), \(account.createdAt), \(account.updatedAt),
                    \(account.version))
            """)
    }

    /// Saves what may change; without a new password hash the old one stays.
    func save(_ account: Account, passwordHash: String?) throws(Failure) {
        try execute(
            """
            UPDATE account
            SET display_name = \(account.displayName), role = \(account.role.rawValue),
                password_hash = coalesce(\(passwordHash), password_hash), disabled_at = \(account.disabledAt),
                updated_at = \(account.updatedAt), version = \(account.version)
            WHERE id = \(account.id)
            """)
    }
}

extension Account {
    fileprivate init(row: borrowing Row) throws(PostgresError) {
        guard let role = Role(rawValue: try row[3]) else { throw .decoding(column: 3) }
        self.init(
            id: try row[0], username: try row[1], displayName: try row[2], role: role, hasPassword: try row[4],
            disabledAt: try row[5], createdAt: try row[6], updatedAt: try row[7], version: try row[8])
    }
}
