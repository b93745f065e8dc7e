/// A closure in line for a connection, and the task that waits for it.
protocol Call: AnyObject, Sendable {
    var number: UInt64 { get }
    var deadline: ContinuousClock.Instant { get }

    /// Runs the closure, tidies the connection, and only then tells the task.
    func run(on session: Session)
    func refuse(_ error: PostgresError)
}

final class Lending<R: Sendable>: Call {
    typealias Continuation = UnsafeContinuation<Result<R, PostgresError>, Never>

    let number: UInt64
    let deadline: ContinuousClock.Instant
    private let body: @Sendable (borrowing Connection) -> R
    private let continuation: Continuation

    init(
        number: UInt64, deadline: ContinuousClock.Instant, body: @escaping @Sendable (borrowing Connection) -> R,
        continuation: Continuation
    ) {
        self.number = number
        self.deadline = deadline
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
