import Glibc
import Lanes
import Synchronization

/// SIGTERM and SIGINT as something to wait for.
public final class Signals: Sendable {
    private struct State {
        var hasArrived = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let lane = Lane(name: "signals")

    /// Keeps the signals from every thread that is made later; call it first.
    public static func block() {
        var set = stopping
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // Writing to a socket or pipe that nobody reads is an error to handle, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
    }

    public init() {
        lane.post { [self] in
            var set = Self.stopping
            var received: Int32 = 0
            while sigwait(&set, &received) != 0 {}
            arrive()
        }
    }

    public var hasArrived: Bool { state.withLock { $0.hasArrived } }

    /// Returns once a signal has arrived.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasArrived { state.waiting.append(continuation) }
                return state.hasArrived
            }
            if isOver { continuation.resume() }
        }
    }

    private func arrive() {
        let waiting = state.withLock { state in
            state.hasArrived = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private static var stopping: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
}
