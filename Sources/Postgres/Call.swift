/// A closure in line for a connection, and the task that waits for it.
protocol Call: AnyObject, Sendable {
    var number: UInt64 { get }
    var precedence: Precedence { get }
    var enteredAt: ContinuousClock.Instant { get }
    var deadline: ContinuousClock.Instant { get }

    /// Runs the closure, tidies the connection, and only then tells the task.
    func run(on session: Session)
    func refuse(_ error: PostgresError)
}

/// Who may be turned away from a line, and who goes first.
public enum Precedence: Sendable {
    /// Nothing has been done for it yet: turning it away costs the least.
    case arriving
    /// Work was done for it already, or many wait for it: it goes before whoever arrives, and is not turned away for the
    /// length of the line.
    case underWay
}

final class Lending<R: Sendable>: Call {
    typealias Continuation = UnsafeContinuation<Result<R, PostgresError>, Never>

    let number: UInt64
    let precedence: Precedence
    let enteredAt: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    private let body: @Sendable (borrowing Connection) -> R
    private let continuation: Continuation

    init(
        number: UInt64, precedence: Precedence, waitFor: Duration,
        body: @escaping @Sendable (borrowing Connection) -> R, continuation: Continuation
    ) {
        self.number = number
        self.precedence = precedence
        enteredAt = .now
        deadline = enteredAt + waitFor
        self.body = body
        self.continuation = continuation
    }

    func run(on session: Session) {
        let value = body(Connection(session))
        // What such a closure wrote is gone, so its answer must not pass for success.
        guard session.endLease() else { return refuse(.misuse("the closure left a transaction open")) }
        continuation.resume(returning: .success(value))
    }

    func refuse(_ error: PostgresError) {
        continuation.resume(returning: .failure(error))
    }
}
