import CMicroHTTPD
import Glibc
import Synchronization

/// One open event stream.
///
/// The library sends the head and the opening bytes; then its connection is suspended and the socket is written from
/// here until the end, when the connection is resumed for the library to close it. Sending is safe from any thread.
public final class EventStream: Sendable {
    /// How a stream ended.
    public enum End: Sendable, Equatable {
        /// By `end` or `endAt`, with everything delivered to the system.
        case ended
        /// The client left, or never read the head.
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
        var opening: [UInt8]
        var queue = FrameQueue()
        var handle: UInt
        var isEnding = false
        var isArmed = false
        var isBroken = false
        var isCounted = false
        var isAnnounced = false
        var endsCleanly = false
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
    let gate: Gate?
    let socket: Int32
    let state: Mutex<State>

    init(source: any EventSource, engine: StreamEngine, gate: Gate, isChunked: Bool, socket: Int32, handle: UInt) {
        self.source = source
        self.engine = engine
        self.gate = gate
        self.socket = socket
        id = engine.nextID()
        var state = State(opening: source.opening, handle: handle)
        state.queue.isChunked = isChunked
        self.state = Mutex(state)
    }

    /// A stream that never was, to tell a source so.
    init(unsentFor source: any EventSource, engine: StreamEngine) {
        self.source = source
        self.engine = engine
        gate = nil
        socket = -1
        id = engine.nextID()
        state = Mutex(State(phase: .over, opening: [], handle: 0))
    }

    /// Bytes taken but not yet accepted by the system.
    public var pending: Int { state.withLock { $0.queue.bytes } }

    /// Sends a frame or says why not; at most the engine's bound waits, but for one frame larger than it.
    public func send(_ frame: Frame) -> SendResult {
        state.withLock { state in
            guard state.phase == .live, !state.isEnding, !state.isBroken else { return .closed }
            let waiting = state.queue.bytes
            guard waiting == 0 || waiting + frame.bytes.count <= engine.settings.bound else {
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
        if state.queue.isEmpty { state.progressAt = Monotonic.now() }
        state.queue.append(frame)
        if !state.isArmed { flush(&state) }
    }

    /// Writes what the socket takes, and watches for room when something is left.
    private func flush(_ state: inout State) {
        while !state.queue.isEmpty, !state.isBroken {
            let sent = state.queue.send(to: socket)
            if sent > 0 {
                state.sentBytes += sent
                state.progressAt = Monotonic.now()
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                break
            } else if errno != EINTR {
                state.isBroken = true
                engine.post(.finish(self, .left))
            }
        }
        let mustWatch = !state.queue.isEmpty && !state.isBroken
        guard mustWatch != state.isArmed else { return }
        state.isArmed = mustWatch
        engine.watch(self, forRoom: mustWatch)
    }
}

// The engine's side.
extension EventStream {
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

    /// Gives the connection back to the library; false when that was done before.
    ///
    /// The socket is not touched afterwards, so that its number may be used again at any time.
    func release(_ end: End) -> Bool {
        state.withLock { state in
            guard state.phase == .live, let handle = OpaquePointer(bitPattern: state.handle) else { return false }
            state.phase = .over
            state.isAnnounced = true
            state.endsCleanly = end == .ended && state.queue.isEmpty && !state.isBroken
            state.queue = FrameQueue()
            state.handle = 0
            engine.forget(self)
            MHD_resume_connection(handle)
            return true
        }
    }
}

// The library's side.
extension EventStream {
    /// Gives the opening bytes, then parks the connection, and at last says how the body ends.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (result, isParked) = state.withLock { state -> (Int, Bool) in
            switch state.phase {
            case .opening where !state.opening.isEmpty:
                let count = min(buffer.count, state.opening.count)
                buffer.copyBytes(from: state.opening.prefix(count))
                state.opening.removeFirst(count)
                state.sentBytes += count
                return (count, false)
            case .opening:
                Pages.release(buffer)
                return park(&state)
            case .live: return (chttp_end_with_error, false)
            case .over:
                leave(&state)
                return (state.endsCleanly ? chttp_end_of_stream : chttp_end_with_error, false)
            }
        }
        if isParked { engine.post(.opened(self)) }
        return result
    }

    private func park(_ state: inout State) -> (Int, Bool) {
        guard let handle = OpaquePointer(bitPattern: state.handle), gate?.enterSuspension() == true else {
            state.phase = .over
            state.endsCleanly = true
            return (chttp_end_of_stream, false)
        }
        state.isCounted = true
        state.phase = .live
        state.progressAt = Monotonic.now()
        MHD_suspend_connection(handle)
        return (0, true)
    }

    private func leave(_ state: inout State) {
        guard state.isCounted else { return }
        state.isCounted = false
        gate?.leaveSuspension()
    }

    /// The library is done with the connection; returns how many bytes of the body were sent.
    func complete() -> Int {
        let (sent, mustAnnounce) = state.withLock { state in
            leave(&state)
            state.phase = .over
            defer { state.isAnnounced = true }
            return (state.sentBytes, !state.isAnnounced)
        }
        if mustAnnounce { engine.post(.dropped(self)) }
        return sent
    }
}
