import CMicroHTTPD
import Glibc
import Lanes
import Synchronization

/// The thread that watches the sockets of all event streams and keeps their time.
public final class StreamEngine: Sendable {
    public struct Settings: Sendable {
        /// Sent to quiet streams; nil for none.
        public var heartbeat: Frame?
        /// Each stream's interval varies by a fifth around it.
        public var heartbeatInterval = Duration.seconds(15)
        /// A client that takes nothing for this long is cut.
        public var stallTimeout = Duration.seconds(30)
        /// Bytes that may wait for one stream.
        public var bound = 64 * 1024
        /// Under it a stream asks for more.
        public var lowWater = 16 * 1024
        /// The system's own buffer for one stream, in bytes.
        public var sendBuffer = 32 * 1024

        public init() {}
    }

    enum Event {
        case opened(EventStream)
        case writable(EventStream)
        case finish(EventStream, EventStream.End)
        /// The response of this source was never sent.
        case abandoned(any EventSource)
        case endAll
        case cutAll
        case stop
    }

    let settings: Settings
    let stallTimeout: Int64
    private let heartbeatInterval: Int64
    private let epoll: Int32
    private let wake = Signal()
    private let inbox = Lock<[Event]>([])
    private let lastID = Atomic<UInt64>(0)
    private let open = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let thread = Mutex<Thread?>(nil)

    init(_ settings: Settings) {
        self.settings = settings
        stallTimeout = Monotonic.nanoseconds(settings.stallTimeout)
        heartbeatInterval = Monotonic.nanoseconds(settings.heartbeatInterval)
        epoll = chttp_epoll_create()
        _ = chttp_epoll_set(epoll, chttp_epoll_add, wake.descriptor, chttp_epoll_in, 0)
    }

    deinit {
        close(epoll)
    }

    var openStreams: Int { open.load(ordering: .relaxed) }
    var streamsTotal: Int { total.load(ordering: .relaxed) }

    func start() throws(ServerFault) {
        guard let started = Thread(named: "http-streams", { self.run() }) else {
            throw .system(call: "pthread_create", code: EAGAIN)
        }
        thread.withLock { $0 = started }
    }

    /// Stops the thread after everything posted before was dealt with.
    func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        post(.stop)
        running.join()
    }

    /// Ends every stream with its source's farewell, and those that still open too.
    func endAll() { post(.endAll) }

    /// Cuts whatever is still open.
    func cutAll() { post(.cutAll) }

    /// Tells a source that its response will not be sent.
    func abandon(_ source: any EventSource) { post(.abandoned(source)) }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    func post(_ event: Event) {
        let wasEmpty = inbox.withLock { inbox in
            inbox.append(event)
            return inbox.count == 1
        }
        if wasEmpty { wake.raise() }
    }

    func watch(_ stream: EventStream, forRoom: Bool) {
        let events = chttp_epoll_gone | (forRoom ? chttp_epoll_out : 0)
        _ = chttp_epoll_set(epoll, chttp_epoll_modify, stream.socket, events, stream.id)
    }

    func forget(_ stream: EventStream) {
        _ = chttp_epoll_set(epoll, chttp_epoll_delete, stream.socket, 0, 0)
    }

    func nextHeartbeat(after now: Int64) -> Int64 {
        guard settings.heartbeat != nil else { return .max }
        let spread = heartbeatInterval / 5
        return now + heartbeatInterval + (spread > 0 ? Int64.random(in: -spread...spread) : 0)
    }
}

// The thread.
extension StreamEngine {
    /// What only the thread itself touches.
    private struct Round {
        var streams: [UInt64: EventStream] = [:]
        var isEnding = false
        var isCutting = false
        var isStopped = false
        var nextTick: Int64 = 0
    }

    private func run() {
        var round = Round()
        var tags = [UInt64](repeating: 0, count: 256)
        var events = [UInt32](repeating: 0, count: 256)
        let tickLength = min(max(min(heartbeatInterval, stallTimeout) / 10, 10_000_000), 500_000_000)
        while !round.isStopped {
            let timeout: Int32 = round.streams.isEmpty ? -1 : Int32(tickLength / 1_000_000)
            let count = chttp_epoll_wait(epoll, &tags, &events, 256, timeout)
            for index in 0..<max(Int(count), 0) where tags[index] != 0 {
                if let stream = round.streams[tags[index]] { handle(stream, events[index], &round) }
            }
            wake.clear()
            let posted = inbox.withLock { inbox in
                defer { inbox = [] }
                return inbox
            }
            for event in posted { handle(event, &round) }
            let now = Monotonic.now()
            if now >= round.nextTick {
                round.nextTick = now + tickLength
                tick(now, &round)
            }
        }
    }

    private func handle(_ stream: EventStream, _ events: UInt32, _ round: inout Round) {
        if events & chttp_epoll_gone != 0 { return finish(stream, .left, &round) }
        if stream.becameWritable() { stream.source.writable(stream) }
    }

    private func handle(_ event: Event, _ round: inout Round) {
        switch event {
        case .opened(let stream): adopt(stream, &round)
        case .writable(let stream): if stream.noticeIsDue() { stream.source.writable(stream) }
        case .finish(let stream, let end): finish(stream, end, &round)
        case .abandoned(let source): dismiss(source)
        case .endAll:
            round.isEnding = true
            for stream in round.streams.values { stream.end(with: stream.source.farewell) }
        case .cutAll:
            round.isCutting = true
            for stream in Array(round.streams.values) { finish(stream, .stopped, &round) }
        case .stop: round.isStopped = true
        }
    }

    private func adopt(_ stream: EventStream, _ round: inout Round) {
        _ = chttp_set_option(stream.socket, SOL_SOCKET, SO_SNDBUF, Int32(clamping: settings.sendBuffer))
        _ = chttp_set_option(
            stream.socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: stallTimeout / 1_000_000))
        round.streams[stream.id] = stream
        open.add(1, ordering: .relaxed)
        total.add(1, ordering: .relaxed)
        stream.scheduleHeartbeat(nextHeartbeat(after: Monotonic.now()))
        let isWatched = chttp_epoll_set(epoll, chttp_epoll_add, stream.socket, chttp_epoll_gone, stream.id) == 0
        stream.begin()
        // The system watches no more sockets: nobody would hear of this client's leaving, nor of room for it.
        guard isWatched else { return finish(stream, .left, &round) }
        stream.source.opened(stream)
        if round.isCutting { return finish(stream, .stopped, &round) }
        if round.isEnding { stream.end(with: stream.source.farewell) }
    }

    private func finish(_ stream: EventStream, _ end: EventStream.End, _ round: inout Round) {
        guard stream.finish(end) else { return }
        if round.streams.removeValue(forKey: stream.id) != nil { open.subtract(1, ordering: .relaxed) }
        stream.source.closed(stream, end)
    }

    private func dismiss(_ source: any EventSource) {
        source.closed(EventStream(unsentFor: source, engine: self), .left)
    }

    private func tick(_ now: Int64, _ round: inout Round) {
        for stream in Array(round.streams.values) {
            if let end = stream.tick(now) { finish(stream, end, &round) }
        }
    }
}
