import Domain
import Store
import Synchronization
import Wire

/// How far this machine's clock is from the database's.
///
/// Tokens end by the one and ended sessions are remembered by the other; a node that is far off would also give ids and
/// times that no other node agrees with.
final class ClockWatch: Service {
    private static let pause = Duration.seconds(10)
    /// Beyond this the log says so.
    static let worthSaying = Duration.seconds(5)
    /// Beyond this no proxy should send requests here; ended sessions are remembered for two minutes longer than a token
    /// lives, so nothing has been let in by then.
    static let bearable = Duration.seconds(60)

    private let database: Database
    private let clock: any Clock
    private let observe: Observe
    private let latest = Mutex(Duration.zero)
    private let isSaid = Atomic(false)

    init(database: Database, clock: any Clock, observe: @escaping Observe) {
        self.database = database
        self.clock = clock
        self.observe = observe
    }

    /// By how much this machine was ahead when it was last asked.
    var ahead: Duration { latest.withLock { $0 } }

    func run() async {
        while !Task.isCancelled {
            // While the database is away, others tell of it.
            _ = try? await measure()
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// By how much this machine is ahead of the database; behind is negative.
    func measure() async throws(Failure) -> Duration {
        let clock = clock
        let ahead = try await database.read { (tx) throws(Failure) -> Duration in
            let before = clock.now()
            let theirs = try tx.databaseTime()
            // The database looked at its clock somewhere between the two.
            let after = clock.now()
            return (before + after.duration(since: before) / 2).duration(since: theirs)
        }
        latest.withLock { $0 = ahead }
        say(ahead)
        return ahead
    }

    /// Told once, and its end too.
    private func say(_ ahead: Duration) {
        let isFar = ahead.magnitude > Self.worthSaying
        guard isSaid.exchange(isFar, ordering: .relaxed) != isFar else { return }
        guard isFar else { return observe(.recovered(task: "clock")) }
        let seconds = ahead.magnitude.components.seconds
        let way = ahead > .zero ? "ahead of" : "behind"
        observe(.faltered(task: "clock", cause: "this machine's clock is \(seconds) s \(way) the database's"))
    }
}

extension Duration {
    var magnitude: Duration { self < .zero ? .zero - self : self }
}
