import Domain
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
        var readAt: ContinuousClock.Instant?
        /// Devices of sessions: a binding never changes while the session lives.
        var devices: [SessionID: DeviceID] = [:]
    }

    private static let pause = Duration.milliseconds(500)
    private static let patience = Duration.seconds(2)
    private static let deviceLimit = 16_384

    private let database: Database
    private let span: Duration
    private let observe: Observe
    private let state = Mutex(State())

    init(database: Database, tokenLife: Duration, observe: @escaping Observe) {
        self.database = database
        self.observe = observe
        span = tokenLife + .seconds(120)
    }

    var isFresh: Bool { state.withLock { Self.isFresh($0) } }

    func standing(of session: SessionID) -> Standing {
        state.withLock { state in
            if state.ended.contains(session) { return .ended }
            guard Self.isFresh(state) else { return .unknown }
            return .live(state.devices[session])
        }
    }

    /// Takes the news of an end that has been committed.
    func note(_ session: SessionID) {
        state.withLock { state in
            state.ended.insert(session)
            state.heard.insert(session)
            state.devices[session] = nil
        }
    }

    func bind(_ session: SessionID, to device: DeviceID) {
        state.withLock { state in
            if state.devices.count >= Self.deviceLimit { state.devices.removeAll(keepingCapacity: true) }
            state.devices[session] = device
        }
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
            state.readAt = began
            for session in news { state.devices[session] = nil }
            return news
        }
        database.bell.ringHere(news.map { .sessionEnded($0) })
    }

    private static func isFresh(_ state: State) -> Bool {
        guard let readAt = state.readAt else { return false }
        return ContinuousClock.now - readAt <= patience
    }
}
