import Glibc
import Synchronization

/// One open event stream.
///
/// Its connection was taken over from the library: everything on it, from the head of the answer to the end, is written from
/// here. Sending is safe from any thread.
public final class EventStream: Sendable {
    /// How a stream ended.
    public enum End: Sendable, Equatable {
        /// By `end` or `endAt`, with everything delivered to the system.
        case ended
        /// The client left.
        case left
        /// The client read nothing for too long.
        case stalled
        /// The server stopped.
        case stopped
    }

    public enum SendResult: Sendable, Equatable {
        case sent
        /// Not taken: too much is waiting. `writable` will be called.
        case full
        case closed
    }

    enum Phase { case opening, live, over }

    struct State {
        var phase = Phase.opening
        var queue = FrameQueue()
        var isEnding = false
        var isArmed = false
        var isBroken = false
        var wantsNotice = false
        var progressAt: Int64 = 0
        var heartbeatAt: Int64 = .max
        var deadline: Int64 = .max
        var lastFrame: Frame?
        var sentBytes = 0
    }

    public let id: UInt64
    let source: any EventSource
    let engine: StreamEngine
    let socket: Int32
    let state: Mutex<State>
    private let headCount: Int
    /// Closes the socket; told whether everything was sent, and how many bytes of the body.
    private let onEnd: @Sendable (_ isClean: Bool, _ bytes: Int) -> Void

    /// `head` goes before everything else.
    init(
        source: any EventSource, engine: StreamEngine, isChunked: Bool, socket: Int32, head: [UInt8],
        onEnd: @escaping @Sendable (_ isClean: Bool, _ bytes: Int) -> Void
    ) {
        self.source = source
        self.engine = engine
        self.socket = socket
        self.onEnd = onEnd
        headCount = head.count
        id = engine.nextID()
        var state = State()
        state.queue.isChunked = isChunked
        state.queue.append(Frame(raw: head))
        state.queue.append(Frame(text: source.opening))
        self.state = Mutex(state)
    }

    /// A stream that never was, to tell a source so.
    init(unsentFor source: any EventSource, engine: StreamEngine) {
        self.source = source
        self.engine = engine
        socket = -1
        headCount = 0
        onEnd = { _, _ in }
        id = engine.nextID()
        state = Mutex(State(phase: .over))
    }

    /// Bytes taken but not yet accepted by the system.
    public var pending: Int { state.withLock { $0.queue.bytes } }

    /// Sends a frame or says why not; at most the engine's bound waits, but for one frame larger than it.
    public func send(_ frame: Frame) -> SendResult {
        state.withLock { state in
            guard state.phase == .live, !state.isEnding, !state.isBroken else { return .closed }
            let waiting = state.queue.bytes
            let size = frame.part(isChunked: state.queue.isChunked).count
            guard waiting == 0 || waiting + size <= engine.settings.bound else {
                state.wantsNotice = true
                return .full
            }
            push(frame, &state)
            return state.isBroken ? .closed : .sent
        }
    }

    /// Asks for one call of `writable`, now or when enough has been sent.
    public func notifyWhenWritable() {
        let isNow = state.withLock { state in
            guard state.phase == .live, !state.isEnding else { return false }
            state.wantsNotice = true
            return state.queue.bytes < engine.settings.lowWater
        }
        if isNow { engine.post(.writable(self)) }
    }

    /// Ends the stream once everything that waits, and then this frame, has been sent.
    public func end(with last: Frame? = nil) {
        state.withLock { state in
            guard state.phase == .live, !state.isEnding else { return }
            state.isEnding = true
            if let last { push(last, &state) }
            // Behind everything else: without it the client takes the body for cut off, as it should when it was.
            if state.queue.isChunked { push(.end, &state) }
            if state.queue.isEmpty { engine.post(.finish(self, .ended)) }
        }
    }

    /// Ends the stream at an instant of `Monotonic`, in nanoseconds; a later call replaces an earlier one.
    public func endAt(_ deadline: Int64, with last: Frame? = nil) {
        state.withLock { state in
            state.deadline = deadline
            state.lastFrame = last
        }
    }
}

// The socket's side; everything here runs under the stream's lock.
extension EventStream {
    private func push(_ frame: Frame, _ state: inout State) {
        state.queue.append(frame)
        if !state.isArmed { flush(&state) }
    }

    /// Writes what the socket takes, and watches for room when something is left.
    private func flush(_ state: inout State) {
        // What begins to wait now has waited for no time yet.
        var progressed = !state.isArmed
        while !state.queue.isEmpty, !state.isBroken {
            let sent = state.queue.send(to: socket)
            if sent > 0 {
                state.sentBytes += sent
                progressed = true
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                break
            } else if errno != EINTR {
                state.isBroken = true
                engine.post(.finish(self, .left))
            }
        }
        if progressed, !state.queue.isEmpty { state.progressAt = Monotonic.now() }
        let mustWatch = !state.queue.isEmpty && !state.isBroken
        guard mustWatch != state.isArmed else { return }
        state.isArmed = mustWatch
        engine.watch(self, forRoom: mustWatch)
    }
}

// The engine's side.
extension EventStream {
    /// Sends the head and the opening; the engine watches the socket already.
    func begin() {
        state.withLock { state in
            guard state.phase == .opening else { return }
            state.phase = .live
            state.progressAt = Monotonic.now()
            flush(&state)
        }
    }

    /// The socket has room: sends on, and says whether `writable` is due.
    func becameWritable() -> Bool {
        state.withLock { state in
            guard state.phase == .live else { return false }
            flush(&state)
            if state.queue.isEmpty, state.isEnding, !state.isBroken { engine.post(.finish(self, .ended)) }
            return takeNotice(&state)
        }
    }

    func noticeIsDue() -> Bool {
        state.withLock { takeNotice(&$0) }
    }

    private func takeNotice(_ state: inout State) -> Bool {
        let isDue =
            state.phase == .live && state.wantsNotice && !state.isEnding
            && state.queue.bytes < engine.settings.lowWater
        if isDue { state.wantsNotice = false }
        return isDue
    }

    func scheduleHeartbeat(_ instant: Int64) {
        state.withLock { $0.heartbeatAt = instant }
    }

    /// Does what time asks for; returns how the stream must end, if it must.
    func tick(_ now: Int64) -> End? {
        let (end, dueFrame) = state.withLock { state -> (End?, Frame??) in
            guard state.phase == .live else { return (nil, nil) }
            if !state.queue.isEmpty, now - state.progressAt > engine.stallTimeout { return (.stalled, nil) }
            if now >= state.heartbeatAt {
                state.heartbeatAt = engine.nextHeartbeat(after: now)
                if state.queue.isEmpty, !state.isEnding, let heartbeat = engine.settings.heartbeat {
                    push(heartbeat, &state)
                }
            }
            guard now >= state.deadline else { return (nil, nil) }
            state.deadline = .max
            return (nil, .some(state.lastFrame))
        }
        if let dueFrame { self.end(with: dueFrame) }
        return end
    }

    /// Ends the stream and closes its connection; false when that was done before.
    func finish(_ end: End) -> Bool {
        let outcome = state.withLock { state -> (isClean: Bool, bytes: Int)? in
            guard state.phase == .live else { return nil }
            state.phase = .over
            engine.forget(self)
            let isClean = end == .ended && state.queue.isEmpty && !state.isBroken
            state.queue = FrameQueue()
            return (isClean, max(0, state.sentBytes - headCount))
        }
        guard let outcome else { return false }
        onEnd(outcome.isClean, outcome.bytes)
        return true
    }
}
