import Domain
import Postgres
import Store
import Wire

/// A session as its owner sees it.
struct SessionRecord: Sendable {
    let id: SessionID
    let account: AccountID
    let app: AppID
    let device: DeviceID?
    let scopes: Scopes
    let createdAt: Instant
    let lastUsedAt: Instant
    let expiresAt: Instant

    static let columns: SQL = "id, account_id, app_id, device_id, scopes, created_at, last_used_at, expires_at"

    init(_ row: borrowing Row) throws(PostgresError) {
        let scopes: [String] = try row[4]
        id = try row[0]
        account = try row[1]
        app = try row[2]
        device = try row[3]
        self.scopes = Scopes(scopes.compactMap(Scope.init(rawValue:)))
        createdAt = try row[5]
        lastUsedAt = try row[6]
        expiresAt = try row[7]
    }
}

extension Transaction {
    func liveSession(_ id: SessionID) throws(Failure) -> SessionRecord? {
        try first(
            """
            SELECT \(SessionRecord.columns)
            FROM session
            WHERE id = \(id) AND ended_at IS NULL AND expires_at > \(now)
            """, SessionRecord.init)
    }

    /// The live session that a refresh token belongs to, held until this transaction ends.
    func holdSession(ofRefreshToken hash: [UInt8]) throws(Failure) -> SessionRecord? {
        try first(
            """
            SELECT \(SessionRecord.columns)
            FROM session
            WHERE id = (SELECT session_id FROM refresh_token WHERE hash = \(hash))
                AND ended_at IS NULL AND expires_at > \(now)
            FOR NO KEY UPDATE
            """, SessionRecord.init)
    }

    /// Live sessions of an account, newest first.
    func liveSessions(of account: AccountID, before last: SessionID?, limit: Int) throws(Failure) -> [SessionRecord] {
        var sql: SQL = """
            SELECT \(SessionRecord.columns)
            FROM session
            WHERE account_id = \(account) AND ended_at IS NULL AND expires_at > \(now)
            """
        if let last { sql += " AND id < \(last)" }
        return try query(sql + " ORDER BY id DESC LIMIT \(limit)", SessionRecord.init)
    }

    func insertSession(
        _ id: SessionID, of account: AccountFacts, in app: AppID, scopes: Scopes, expiresAt: Instant
    ) throws(Failure) {
        try execute(
            """
            INSERT INTO session (id, account_id, app_id, role, scopes, created_at, last_used_at, expires_at)
            VALUES (\(id), \(account.id), \(app), \(account.role.rawValue), \(scopes.ordered), \(now), \(now),
                    \(expiresAt))
            """)
    }

    func prolongSession(_ id: SessionID, until expiresAt: Instant) throws(Failure) {
        try execute("UPDATE session SET last_used_at = \(now), expires_at = \(expiresAt) WHERE id = \(id)")
    }

    /// Sessions that ended lately, by the clock of the database, which also stamped their ends.
    ///
    /// By the start of this statement: no index could be asked for a time that changes from row to row.
    func sessionsEnded(within span: Duration) throws(Failure) -> [SessionID] {
        try query(
            """
            SELECT id
            FROM session
            WHERE ended_at > statement_timestamp() - make_interval(secs => \(Double(span.components.seconds)))
            """
        ) { row throws(PostgresError) in try row[0] as SessionID }
    }

    /// Live sessions that nobody has refreshed in time.
    func expiredSessions(limit: Int) throws(Failure) -> [SessionID] {
        try query(
            """
            SELECT id
            FROM session
            WHERE ended_at IS NULL AND expires_at <= \(now)
            ORDER BY id
            LIMIT \(limit)
            FOR UPDATE SKIP LOCKED
            """
        ) { row throws(PostgresError) in try row[0] as SessionID }
    }
}
