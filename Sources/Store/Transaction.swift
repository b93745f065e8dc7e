public import Domain
public import Postgres
public import Wire

/// One transaction, lent to a body: it can neither be kept nor used twice.
public struct Transaction: ~Copyable {
    /// The one instant of this transaction.
    public let now: Instant
    public let entropy: any Entropy
    private let connection: Connection
    private let ledger: Ledger

    init(_ connection: consuming Connection, now: Instant, entropy: any Entropy, ledger: Ledger) {
        self.connection = connection
        self.now = now
        self.entropy = entropy
        self.ledger = ledger
    }

    /// A new time-ordered identifier.
    public func newID<Subject>() -> ID<Subject> { entropy.id(at: now) }

    /// Every row of the answer, decoded.
    public func query<T>(_ sql: SQL, _ decode: (borrowing Row) throws(PostgresError) -> T) throws(Failure) -> [T] {
        try ledger.noting { () throws(PostgresError) in try connection.query(sql, decode) }
    }

    /// The first row of the answer, or nothing.
    public func first<T>(_ sql: SQL, _ decode: (borrowing Row) throws(PostgresError) -> T) throws(Failure) -> T? {
        try ledger.noting { () throws(PostgresError) in try connection.first(sql, decode) }
    }

    /// The number of rows that the statement touched.
    @discardableResult
    public func execute(_ sql: SQL) throws(Failure) -> Int {
        try ledger.noting { () throws(PostgresError) in try connection.execute(sql) }
    }

    /// Runs several writes in one round trip; the rows each one touched.
    @discardableResult
    public func batch(_ statements: [SQL]) throws(Failure) -> [Int] {
        try ledger.noting { () throws(PostgresError) in try connection.batch(statements) }
    }

    /// A statement was refused because it, or a lock that it needs, took too long.
    public var isHeldUp: Bool { ledger.isHeldUp }

    /// Leaves writes to be sent together with the COMMIT, in one round trip.
    ///
    /// For those that nothing in the body needs to have been made: an error of theirs ends the transaction as a whole.
    public func close(with statements: [SQL]) { ledger.note(statements) }

    /// Several statements in one round trip.
    func queries(_ statements: [SQL]) throws(Failure) -> [Rows] {
        try ledger.noting { () throws(PostgresError) in try connection.queries(statements) }
    }

    func read<T>(_ rows: Rows, _ decode: (borrowing Row) throws(PostgresError) -> T) throws(Failure) -> [T] {
        try ledger.noting { () throws(PostgresError) in try rows.map(decode) }
    }

    /// Names a doorbell; it rings only after the commit.
    public func ring(_ doorbell: Doorbell) { ledger.note(doorbell) }
}

/// What a body leaves behind: writes that travel with the COMMIT, bells to ring after it, or the wish to be run again.
final class Ledger {
    private(set) var closing: [SQL] = []
    private(set) var bells: [Doorbell] = []
    private(set) var mayRetry = false
    private(set) var isHeldUp = false

    func note(_ doorbell: Doorbell) { bells.append(doorbell) }
    func note(_ statements: [SQL]) { closing += statements }

    func noting<R>(_ work: () throws(PostgresError) -> R) throws(Failure) -> R {
        do throws(PostgresError) {
            return try work()
        } catch {
            mayRetry = mayRetry || error.isRetryable
            isHeldUp = isHeldUp || error.isTimeout
            throw Failure(error)
        }
    }
}
