public import Domain
public import Postgres
import Wire

/// The one door to PostgreSQL for features.
public final class Database: Sendable {
    public let clock: any Clock
    public let entropy: any Entropy
    public let bell: Bell
    private let pool: Pool

    /// Makes a door over connections; a room may have a few of its own that requests never use.
    public init(pool: Pool, bell: Bell, clock: any Clock, entropy: any Entropy) {
        self.pool = pool
        self.bell = bell
        self.clock = clock
        self.entropy = entropy
    }

    /// Runs `body` in one transaction and returns after its commit; a thrown failure rolls everything back.
    ///
    /// The body is synchronous and runs on a lane of its own, so nothing but the database can be waited for inside. It
    /// runs again, from the start, when PostgreSQL breaks a deadlock or refuses to serialise.
    ///
    /// Its precedence is `.underWay` for the second step of something, or for what many wait for.
    public func transaction<R: Sendable>(
        _ precedence: Precedence = .arriving, _ body: @escaping @Sendable (borrowing Transaction) throws(Failure) -> R
    ) async throws(Failure) -> R {
        try await run(precedence) { (connection, ledger) throws(Failure) in
            let transaction = self.transaction(on: connection, ledger)
            return try connection.inTransaction(ledger) { () throws(Failure) in try body(transaction) }
        }
    }

    /// Statements that only read, each with its own snapshot: what must agree is read by one statement.
    public func read<R: Sendable>(
        _ precedence: Precedence = .arriving, _ body: @escaping @Sendable (borrowing Transaction) throws(Failure) -> R
    ) async throws(Failure) -> R {
        try await run(precedence) { (connection, ledger) throws(Failure) in
            let result = try body(self.transaction(on: connection, ledger))
            guard ledger.closing.isEmpty else { throw .broken(cause: "a read that left something to write") }
            return result
        }
    }

    /// Asks one statement that only reads and takes microseconds; what others ask at the same time travels with it.
    ///
    /// The cheapest way to read a row or a few: under load one exchange with PostgreSQL serves many requests.
    public func ask<Value: Sendable>(_ query: Query<Value>) async throws(Failure) -> [Value] {
        do throws(PostgresError) {
            return try await pool.ask(query.sql, query.decode)
        } catch {
            throw Failure(error)
        }
    }

    /// The same, for the first row of the answer.
    public func askFirst<Value: Sendable>(_ query: Query<Value>) async throws(Failure) -> Value? {
        try await ask(query).first
    }

    private func transaction(on connection: borrowing Connection, _ ledger: Ledger) -> Transaction {
        Transaction(connection.again(), now: clock.now(), entropy: entropy, ledger: ledger)
    }

    private func run<R: Sendable>(
        _ precedence: Precedence, _ attempt: @escaping @Sendable (borrowing Connection, Ledger) throws(Failure) -> R
    ) async throws(Failure) -> R {
        let settled: (result: Result<R, Failure>, bells: [Doorbell])
        do throws(PostgresError) {
            settled = try await pool.lend(precedence) { connection in Self.settle(connection, attempt) }
        } catch {
            throw Failure(error)
        }
        bell.ring(settled.bells)
        return try settled.result.get()
    }

    /// PostgreSQL ends one of two transactions that wait for each other; the loser simply tries again.
    private static let attempts = 4

    private static func settle<R: Sendable>(
        _ connection: borrowing Connection, _ attempt: (borrowing Connection, Ledger) throws(Failure) -> R
    ) -> (Result<R, Failure>, [Doorbell]) {
        var left = attempts
        while true {
            let ledger = Ledger()
            left -= 1
            do throws(Failure) {
                return (.success(try attempt(connection, ledger)), ledger.bells)
            } catch {
                guard ledger.mayRetry, left > 0 else { return (.failure(error), []) }
            }
        }
    }
}

extension Connection {
    /// Begins, runs the body, commits; rolls back whatever the body throws.
    fileprivate func inTransaction<R>(
        _ ledger: Ledger, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        try ledger.noting { () throws(PostgresError) in try begin(.readWrite) }
        do throws(Failure) {
            let result = try body()
            _ = try ledger.noting { () throws(PostgresError) in try batchAndCommit(ledger.closing) }
            return result
        } catch {
            rollback()
            throw error
        }
    }
}
