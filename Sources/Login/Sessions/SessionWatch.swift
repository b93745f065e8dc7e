import Domain
import Lanes
import Store
import Synchronization
import Wire

/// Knows which sessions have ended, so that their tokens are refused on every node within two seconds.
///
/// Twice a second it reads every session that ended within a token's life and two minutes, by the database's clock:
/// the whole set each time, so that no cursor can miss one whose transaction took long to commit. Doorbells only make it
/// quicker. A node that has not read for two seconds says that it does not know.
final class SessionWatch: Service {
    enum Standing: Sendable, Equatable {
        case live(DeviceID?)
        case ended
        /// Not lately heard from the database.
        case unknown
    }

    private struct State {
        var ended: Set<SessionID> = []
        /// Told by bells since the current read began, which that read may not have seen.
        var heard: Set<SessionID> = []
        /// Devices of sessions: a binding never changes while the session lives.
        var devices: [SessionID: DeviceID] = [:]
    }

    private static let pause = Duration.milliseconds(500)
    private static let patience: Int64 = 2_000_000_000
    private static let deviceLimit = 16_384

    private let database: Database
    private let span: Duration
    private let observe: Observe
    private let state = Lock(State())
    /// Grows with every change of `ended` and `devices`: what was found out in the same era still holds.
    private let era = Atomic<UInt64>(1)
    /// When the last complete read began, in nanoseconds since `beginning`.
    private let readAt = Atomic<Int64>(.min)
    private let beginning = ContinuousClock.now

    init(database: Database, tokenLife: Duration, observe: @escaping Observe) {
        self.database = database
        self.observe = observe
        span = tokenLife + .seconds(120)
    }

    /// Whether the database has been heard of lately.
    var isFresh: Bool {
        let readAt = readAt.load(ordering: .acquiring)
        return readAt != .min && nanoseconds(at: .now) - readAt <= Self.patience
    }

    /// Every request asks, so the lock is taken only when something has changed since this token was last shown.
    func standing(of known: KnownToken) -> Standing {
        let era = era.load(ordering: .acquiring)
        if known.aliveIn.load(ordering: .relaxed) != era {
            let session = known.token.session
            let (hasEnded, device) = state.withLock { ($0.ended.contains(session), $0.devices[session]) }
            if hasEnded { return .ended }
            if let device { known.bind(to: device) }
            known.aliveIn.store(era, ordering: .relaxed)
        }
        return isFresh ? .live(known.device) : .unknown
    }

    /// Takes the news of an end that has been committed.
    func note(_ session: SessionID) {
        change { state in
            state.ended.insert(session)
            state.heard.insert(session)
            state.devices[session] = nil
        }
    }

    func bind(_ session: SessionID, to device: DeviceID) {
        change { state in
            if state.devices.count >= Self.deviceLimit { state.devices.removeAll(keepingCapacity: true) }
            state.devices[session] = device
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        // After the change: whoever reads the new era also finds what is new in it.
        era.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    private func nanoseconds(at instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - beginning).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    func run() async {
        var isFaltering = false
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            guard !Task.isCancelled else { return }
            do throws(Failure) {
                try await read()
                if isFaltering { observe(.recovered(task: "ended sessions")) }
                isFaltering = false
            } catch {
                if !isFaltering { observe(.faltered(task: "ended sessions", cause: error.cause)) }
                isFaltering = true
            }
        }
    }

    /// Reads the whole set once, and rings here for those that no bell had told of, so that their streams end.
    func read() async throws(Failure) {
        let began = ContinuousClock.now
        state.withLock { $0.heard = [] }
        let span = span
        let found = Set(try await database.read { (tx) throws(Failure) in try tx.sessionsEnded(within: span) })
        let news = state.withLock { state in
            let news = found.subtracting(state.ended)
            state.ended = found.union(state.heard)
            for session in news { state.devices[session] = nil }
            return news
        }
        if !news.isEmpty { era.wrappingAdd(1, ordering: .acquiringAndReleasing) }
        readAt.store(nanoseconds(at: began), ordering: .releasing)
        database.bell.ringHere(news.map { .sessionEnded($0) }, from: .elsewhere)
    }
}
