/// A connection, lent for the length of one closure on the thread that owns it.
///
/// Every call blocks until the server has answered. It can be neither kept nor copied.
public struct Connection: ~Copyable {
    public enum Access: Sendable {
        case readWrite, readOnly
    }

    public enum Isolation: Sendable {
        case readCommitted, repeatableRead, serializable
    }

    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// The same connection for a wrapper that is itself only lent: `Connection` cannot be copied, on purpose.
    public func again() -> Connection { Connection(session) }

    /// Grows with every new connection: session state such as an advisory lock is gone when it changes.
    public var generation: Int { session.generation }

    /// For example 150018 for 15.18.
    public var serverVersion: Int { session.pipeline.serverVersion }

    public var isInTransaction: Bool { session.isInTransaction }

    /// All rows of a statement, each read by the closure.
    public func query<T>(
        _ sql: SQL, _ decode: (borrowing Row) throws(PostgresError) -> T
    ) throws(PostgresError) -> [T] {
        try Rows(try session.perform(sql)).map(decode)
    }

    /// Runs several statements in one round trip, each seeing what those before it did, and returns the rows of each.
    ///
    /// Throws the first error; those after it were not run. Outside a transaction they are one by themselves.
    public func queries(_ statements: [SQL]) throws(PostgresError) -> [Rows] {
        try session.performAll(statements, thenCommit: false).map(Rows.init)
    }

    /// The first row of a statement, or nil when there is none.
    public func first<T>(
        _ sql: SQL, _ decode: (borrowing Row) throws(PostgresError) -> T
    ) throws(PostgresError) -> T? {
        let answer = try session.perform(sql)
        return answer.rowCount == 0 ? nil : try decode(Row(answer.result, 0))
    }

    /// Runs a statement and returns how many rows it touched.
    @discardableResult
    public func execute(_ sql: SQL) throws(PostgresError) -> Int {
        try session.perform(sql).affected
    }

    /// Runs several writes in one round trip and returns the rows each one touched.
    ///
    /// Throws the first error; those after it were not run. Outside a transaction they are one by themselves.
    @discardableResult
    public func batch(_ statements: [SQL]) throws(PostgresError) -> [Int] {
        try session.performAll(statements, thenCommit: false).map(\.affected)
    }

    /// Runs several writes and commits, all in one round trip: the cheapest end of a transaction.
    ///
    /// After an error nothing is committed and the transaction is still to be rolled back; the exception is
    /// `.commitUnknown`.
    @discardableResult
    public func batchAndCommit(_ statements: [SQL]) throws(PostgresError) -> [Int] {
        try session.performAll(statements, thenCommit: true).map(\.affected)
    }

    /// Runs a text of any number of statements that bind nothing: migrations.
    public func script(_ text: String) throws(PostgresError) {
        try session.script(text)
    }

    /// Starts a transaction with the next statement; an error in starting it shows there.
    public func begin(
        _ access: Access = .readWrite, isolation: Isolation = .readCommitted
    ) throws(PostgresError) {
        let sql: SQL =
            switch (isolation, access) {
            case (.readCommitted, .readWrite): "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
            case (.readCommitted, .readOnly): "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
            case (.repeatableRead, .readWrite): "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
            case (.repeatableRead, .readOnly): "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case (.serializable, .readWrite): "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
            case (.serializable, .readOnly): "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"
            }
        try session.begin(sql, isReadOnly: access == .readOnly)
    }

    /// Ends the transaction with its effects.
    ///
    /// Throws `.commitUnknown` when the connection ended before the answer; after any other error nothing is committed.
    public func commit() throws(PostgresError) {
        try session.commit()
    }

    /// Ends the transaction without its effects; it cannot fail, and without a transaction it does nothing.
    public func rollback() {
        session.rollback()
    }
}
