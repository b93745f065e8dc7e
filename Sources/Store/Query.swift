public import Domain
public import Postgres

/// A statement and how its rows are read: for statements that travel together.
public struct Query<Value>: Sendable {
    let sql: SQL
    let decode: @Sendable (borrowing Row) throws(PostgresError) -> Value

    public init(_ sql: SQL, _ decode: @escaping @Sendable (borrowing Row) throws(PostgresError) -> Value) {
        self.sql = sql
        self.decode = decode
    }
}

extension Transaction {
    public func query<Value>(_ query: Query<Value>) throws(Failure) -> [Value] {
        try self.query(query.sql, query.decode)
    }

    public func first<Value>(_ query: Query<Value>) throws(Failure) -> Value? {
        try self.first(query.sql, query.decode)
    }

    /// Asks three things in one round trip, in their order: each sees, and may wait for, what those before it locked.
    ///
    /// From here to the end of the transaction no lock is waited for longer than so many milliseconds.
    public func query<A, B, C>(
        _ a: Query<A>, _ b: Query<B>, _ c: Query<C>, waitingForLocks milliseconds: Int
    ) throws(Failure) -> (a: [A], b: [B], c: [C]) {
        let patience: SQL = "SELECT pg_catalog.set_config('lock_timeout', \(String(milliseconds)), true)"
        let rows = try queries([patience, a.sql, b.sql, c.sql])
        return (try read(rows[1], a.decode), try read(rows[2], b.decode), try read(rows[3], c.decode))
    }
}
