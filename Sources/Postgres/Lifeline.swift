internal import CPostgreSQL
internal import Glibc
internal import Synchronization

/// What another thread knows of a lane's connection: since when it waits for an answer, and how to end that.
///
/// The connection is cut, not cancelled: a cancelled statement needs a server that still listens, and a cancelled COMMIT
/// that waits for a standby reports success. The only part of libpq that crosses threads: a socket's number, under a lock.
final class Lifeline: Sendable {
    private static let none: Int32 = -1

    private let socket = Mutex<Int32>(none)
    /// Nanoseconds on the continuous clock; zero while nothing is waited for.
    private let waitingSince = Atomic<Int64>(0)
    private let wasCut = Atomic(false)
    private let watch: Watch

    init(watch: Watch) {
        self.watch = watch
    }

    /// From here on `cut` ends this connection; it must be `disarmed` before the connection is.
    func arm(_ connection: Handle) {
        wasCut.store(false, ordering: .relaxed)
        socket.withLock { $0 = PQsocket(connection.pointer) }
    }

    func disarm() {
        socket.withLock { $0 = Self.none }
        waitingSince.store(0, ordering: .sequentiallyConsistent)
    }

    func beginWaiting() {
        waitingSince.store(Watch.now, ordering: .sequentiallyConsistent)
        watch.noteWaiting()
    }

    func endWaiting() {
        waitingSince.store(0, ordering: .releasing)
    }

    /// When the wait began; nil when nothing is waited for.
    var began: Int64? {
        let since = waitingSince.load(ordering: .sequentiallyConsistent)
        return since == 0 ? nil : since
    }

    /// Ends the connection if there is one; whoever waits for its answer learns that it is lost.
    func cut() {
        socket.withLock { socket in
            guard socket != Self.none else { return }
            wasCut.store(true, ordering: .relaxed)
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// This connection was ended from here.
    var isCut: Bool { wasCut.load(ordering: .relaxed) }
}

/// Wakes the keeper of deadlines with the first wait after a quiet time, so that a quiet pool has no timer.
final class Watch: Sendable {
    private let isAwake = Atomic(false)
    private let keeper: WakeUp
    private static let start = ContinuousClock.now

    init(keeper: WakeUp) {
        self.keeper = keeper
    }

    /// Never zero.
    static var now: Int64 { Int64((ContinuousClock.now - start) / .nanoseconds(1)) + 1 }

    func noteWaiting() {
        guard !isAwake.load(ordering: .sequentiallyConsistent) else { return }
        if !isAwake.exchange(true, ordering: .sequentiallyConsistent) { keeper.call() }
    }

    /// Cuts connections that have waited for longer than the limit, and says when to look again (nil: when called).
    ///
    /// For the keeper's thread alone. It looks eight times in a limit, however often lanes begin to wait.
    func cutOverdue(_ lifelines: [Lifeline], limit: Duration, lookingAt: inout ContinuousClock.Instant?) {
        let now = ContinuousClock.now
        guard let due = lookingAt else {
            if isAwake.load(ordering: .sequentiallyConsistent) { lookingAt = now + limit / 8 }
            return
        }
        guard due <= now else { return }
        // Before the look: whoever begins to wait after it calls again.
        isAwake.store(false, ordering: .sequentiallyConsistent)
        let waits = lifelines.compactMap { line in line.began.map { (line: line, began: $0) } }
        lookingAt = waits.isEmpty ? nil : now + limit / 8
        guard !waits.isEmpty else { return }
        isAwake.store(true, ordering: .sequentiallyConsistent)
        let nanoseconds = Int64(limit / .nanoseconds(1))
        for wait in waits where Self.now - wait.began >= nanoseconds { wait.line.cut() }
    }
}
