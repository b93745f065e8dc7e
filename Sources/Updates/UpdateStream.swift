import API
import Domain
import HTTP
import Store
import Synchronization
import Wire

/// One open stream: the thin shell around `StreamState` that sends, pulls and hears bells.
final class UpdateStream: EventSource {
    /// Events that are the same for every stream.
    static let goodbye = Frame(ServerSentEvent(event: "goodbye", data: Array(#"{"retryAfter":2}"#.utf8)))
    static let sessionEnded = Frame(ServerSentEvent(event: "session", data: Array(#"{"state":"ended"}"#.utf8)))

    private static let lowWater = 16 * 1024

    private struct State {
        var machine: StreamState
        var stream: EventStream?
    }

    let listener: Listener
    let feeds: [(letter: UInt8, feed: any UpdateFeed)]
    let opening: [UInt8]
    let farewell: Frame? = UpdateStream.goodbye
    private let endsAt: Int64
    private let observe: Observe
    private let onClose: @Sendable (UpdateStream) -> Void
    private let state: Mutex<State>

    /// Makes the stream; it sends once the server has opened it.
    ///
    /// `endsAt` is an instant of `Monotonic`, before the token's end. `retry` is in milliseconds.
    init(
        listener: Listener, feeds: [(letter: UInt8, feed: any UpdateFeed)], retry: Int, endsAt: Int64,
        observe: @escaping Observe, onClose: @escaping @Sendable (UpdateStream) -> Void
    ) {
        self.listener = listener
        self.feeds = feeds
        self.endsAt = endsAt
        self.observe = observe
        self.onClose = onClose
        opening = Self.opening(retry: retry)
        state = Mutex(State(machine: StreamState(starts: feeds.map(\.feed.start))))
    }

    /// Without a blank line behind it: some readers would take that for an empty event.
    static func opening(retry: Int) -> [UInt8] { Array("retry: \(retry)\n: enfilade\n".utf8) }

    /// The bells that concern this stream.
    var doorbells: [Doorbell] {
        feeds.map(\.feed.doorbell) + [
            .devices(listener.caller.account, version: 0), .sessionEnded(listener.caller.session),
        ]
    }

    func hear(_ doorbell: Doorbell, from origin: Bell.Origin) {
        switch doorbell {
        case .sessionEnded: end(with: Self.sessionEnded)
        case .devices(_, let version):
            state.withLock { $0.machine.markDevices(version: version) }
            pump()
        case .mailbox, .configuration, .audit:
            state.withLock { state in
                for lane in feeds.indices where feeds[lane].feed.doorbell == doorbell {
                    state.machine.mark(lane, isBeyondMemory: origin == .elsewhere)
                }
            }
            pump()
        }
    }

    /// The feed of a source and where it stands, when a look at the table could tell something new.
    func idlePosition(of letter: UInt8) -> (feed: any UpdateFeed, position: Position)? {
        guard let lane = feeds.firstIndex(where: { $0.letter == letter }) else { return nil }
        return state.withLock { state in
            state.machine.isIdle ? (feeds[lane].feed, state.machine.lanes[lane].position) : nil
        }
    }

    /// There is more in the source's table than the stream knows of.
    func look(at letter: UInt8) {
        guard let lane = feeds.firstIndex(where: { $0.letter == letter }) else { return }
        state.withLock { $0.machine.mark(lane) }
        pump()
    }

    /// Goes on where a failure of the database had left it.
    func nudge() { pump() }

    func end(with last: Frame) {
        let stream = state.withLock { state in
            state.machine.end()
            return state.stream
        }
        stream?.end(with: last)
    }
}

// What the server calls.
extension UpdateStream {
    func opened(_ stream: EventStream) {
        let isOver = state.withLock { state in
            state.stream = stream
            return state.machine.isEnded
        }
        stream.endAt(endsAt, with: Self.goodbye)
        observe(.streamOpened)
        // The session ended between the answer's head and now.
        if isOver { return stream.end(with: Self.sessionEnded) }
        pump()
    }

    func writable(_ stream: EventStream) {
        state.withLock { $0.machine.becameWritable() }
        pump()
    }

    func closed(_ stream: EventStream, _ end: EventStream.End) {
        let wasOpen = state.withLock { state in
            state.machine.end()
            // They hold each other; whoever does not let go here stays for ever, and its feeds with it.
            defer { state.stream = nil }
            return state.stream != nil
        }
        onClose(self)
        guard wasOpen else { return }
        let reason: StaticString =
            switch end {
            case .ended: "ended"
            case .left: "left"
            case .stalled: "stalled"
            case .stopped: "stopped"
            }
        observe(.streamClosed(reason: reason))
    }
}

// Sending and pulling.
extension UpdateStream {
    /// Does whatever the machine says until it says wait.
    private func pump() {
        var question = state.withLock { ask(&$0) }
        while let (lane, position, mustRead) = question {
            guard let recent = feeds[lane].feed.recent(after: position), !recent.isEmpty || !mustRead else {
                Task { await pull(lane, after: position) }
                return
            }
            question = state.withLock { state in
                state.machine.found(recent, in: lane, fromMemory: true)
                return ask(&state)
            }
        }
    }

    /// Sends what can be sent; what to ask a lane's source then, or `nil` to wait.
    private func ask(_ state: inout State) -> (lane: Int, position: Position, mustReadTable: Bool)? {
        advance(&state).map { ($0, state.machine.lanes[$0].position, state.machine.mustReadTable) }
    }

    private func pull(_ lane: Int, after position: Position) async {
        do throws(Failure) {
            let updates = try await feeds[lane].feed.page(after: position)
            state.withLock { $0.machine.found(updates, in: lane) }
            pump()
        } catch {
            // The database is away: the poll looks again, and the client sees heartbeats meanwhile.
            state.withLock { state in
                state.machine.failed()
                state.machine.mark(lane)
            }
        }
    }

    /// Sends what can be sent; the lane to pull, or `nil` to wait.
    ///
    /// Runs under the lock, so that order is kept.
    private func advance(_ state: inout State) -> Int? {
        guard let stream = state.stream else { return nil }
        var sent = 0
        defer { if sent > 0 { observe(.eventsSent(sent)) } }
        while true {
            // Pulled only when most of what was sent is gone, so that a slow reader holds little memory.
            let action = state.machine.next(hasRoom: stream.pending < Self.lowWater)
            switch action {
            case .wait: return nil
            case .pull(let lane): return lane
            case .waitForRoom:
                state.machine.refused()
                stream.notifyWhenWritable()
                return nil
            case .deliver, .announceReady, .announceDevices:
                guard let frame = frame(for: action, state) else { return nil }
                switch stream.send(frame) {
                case .sent:
                    settle(action, &state)
                    sent += 1
                case .full:
                    state.machine.refused()
                    return nil
                case .closed:
                    state.machine.end()
                    return nil
                }
            }
        }
    }

    private func frame(for action: StreamState.Action, _ state: State) -> Frame? {
        switch action {
        case .deliver(let lane):
            guard let update = state.machine.update(of: lane) else { return nil }
            let id = cursor(state, once: (lane, update.position))
            return Frame(ServerSentEvent(event: update.event.description, id: id, data: update.data))
        case .announceReady:
            return Frame(ServerSentEvent(event: "ready", id: cursor(state), data: readyData()))
        case .announceDevices(let version):
            return Frame(ServerSentEvent(event: "device", data: deviceData(version)))
        case .pull, .wait, .waitForRoom: return nil
        }
    }

    /// Where the stream stands, or will stand once a lane has reached a position.
    private func cursor(_ state: State, once next: (lane: Int, position: Position)? = nil) -> String {
        StreamCursor.text(
            device: listener.device, app: listener.caller.app,
            positions: feeds.indices.lazy.map { [feeds] lane in
                (feeds[lane].letter, lane == next?.lane ? next?.position ?? [] : state.machine.lanes[lane].position)
            })
    }

    private func settle(_ action: StreamState.Action, _ state: inout State) {
        switch action {
        case .deliver(let lane): state.machine.delivered(in: lane)
        case .announceReady: state.machine.announcedReady()
        case .announceDevices: state.machine.announcedDevices()
        case .pull, .wait, .waitForRoom: break
        }
    }

    private func readyData() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for entry in feeds {
            let standing = entry.feed.standing
            writer.field(standing.name, standing.value)
        }
        writer.endObject()
        return writer.finish()
    }

    private func deviceData(_ version: Int64) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("accountId", listener.caller.account.uuid)
        writer.field("version", version)
        writer.endObject()
        return writer.finish()
    }
}
