import Domain
import Postgres
import Store
import Synchronization
import Wire

/// Refused sign-ins of names that nobody has, told to the audit log together, at most once a minute.
///
/// Anybody can try any number of such names, and the log can never be shortened. The first is told at once.
final class UnknownNames: Service {
    private struct State {
        var count = 0
        var toldAt: Instant?
    }

    private static let period = Duration.seconds(60)
    private static let pause = Duration.seconds(5)

    private let database: Database
    private let state = Mutex(State())

    init(database: Database) { self.database = database }

    /// Counts one more, and returns how many to tell of now.
    func noteOne(at now: Instant) -> Int? {
        state.withLock { state in
            state.count += 1
            return Self.due(&state, now)
        }
    }

    func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            await tell(isLast: false)
        }
        await tell(isLast: true)
    }

    private func tell(isLast: Bool) async {
        let count = state.withLock { Self.due(&$0, database.clock.now(), isLast: isLast) }
        guard let count else { return }
        // A task of its own: what was counted is told even while the server stops.
        await Task { [database] in
            try? await database.transaction(.underWay) { (tx) throws(Failure) in
                tx.record(Self.deed(count), by: Actor(kind: .anonymous))
            }
        }.value
    }

    static func deed(_ count: Int) -> Deed {
        let after: JSON? = count > 1 ? ["attempts": .number(JSON.Number(Int64(count)))] : nil
        return Deed(.sessionRefused, .refused, of: nil, after: after, reason: "unknown-account")
    }

    private static func due(_ state: inout State, _ now: Instant, isLast: Bool = false) -> Int? {
        if let toldAt = state.toldAt, toldAt <= now, now.duration(since: toldAt) < period, !isLast { return nil }
        guard state.count > 0 else { return nil }
        state.toldAt = now
        defer { state.count = 0 }
        return state.count
    }
}
