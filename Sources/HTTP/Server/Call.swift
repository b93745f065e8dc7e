import CMicroHTTPD
import Glibc
import Lanes
import Synchronization

/// One request on its way through the library's callbacks.
final class Call: Sendable {
    enum Phase {
        case head, body, suspended, resumed, answered
    }

    struct State {
        var phase = Phase.head
        var target: [UInt8] = []
        var targetAddress: UInt = 0
        var head: RequestHead?
        var client: Address?
        var handler: (any Handler)?
        var methodName = "OTHER"
        var routePattern: String?
        var requestID = ""
        var bodyLimit = 0
        var body: [UInt8] = []
        var excess = 0
        var receivedBytes = 0
        /// Of the bytes that all connections together may hold.
        var heldBytes = 0
        var isCrowdedOut = false
        var bytesOfWindow = 0
        var bodyEnd: Int64 = .max
        var answer: Response?
        var handle: UInt = 0
        var status = 0
        var responseBytes = 0
        /// By the stream engine; the request is not over when the library is done with it.
        var isTakenOver = false
    }

    let core: Core
    let connection: Connection
    let receivedAt = Monotonic.now()
    let state: Mutex<State>

    /// How much of a body over the limit is read and dropped, so that the client can read our refusal.
    static let toleratedExcess = 64 * 1024

    init(core: Core, connection: Connection, target: UnsafePointer<CChar>?) {
        self.core = core
        self.connection = connection
        var state = State()
        if !connection.isProxy { state.client = connection.peer }
        if let target {
            state.targetAddress = UInt(bitPattern: target)
            state.target = Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
            // An old library cuts the query apart in the connection's memory, and never answers when that is used up.
            // It is read by us alone, so the library is shown none.
            if Daemon.isOld, let mark = state.target.firstIndex(of: 0x3F), mark + 1 < state.target.count {
                UnsafeMutablePointer(mutating: target)[mark + 1] = 0
            }
        }
        self.state = Mutex(state)
        core.gate.beginRequest()
        connection.call = self
        connection.expect(.head, by: receivedAt + core.timeouts.header)
    }

    var isAwaitingHead: Bool { state.withLock { $0.phase == .head } }

    /// Takes a piece of the body; false when the client sends so much too much that the connection must break.
    func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.receivedBytes += piece.count
            prolong(piece.count, &state)
            let left = state.bodyLimit - state.receivedBytes
            if left < 0 {
                state.excess += piece.count
                drop(&state)
            } else if !state.isCrowdedOut {
                keep(piece, &state)
            }
            return state.excess <= Call.toleratedExcess
        }
    }

    private func keep(_ piece: UnsafeRawBufferPointer, _ state: inout State) {
        guard core.bodies.take(piece.count) else {
            // The rest is read all the same: it takes no room, and a client that is sending can read no refusal.
            state.isCrowdedOut = true
            return drop(&state)
        }
        state.heldBytes += piece.count
        state.body.append(contentsOf: piece)
    }

    private func drop(_ state: inout State) {
        state.body = []
        core.bodies.give(state.heldBytes)
        state.heldBytes = 0
    }

    /// A client that keeps the least rate is given another window, until the body's time is over.
    private func prolong(_ count: Int, _ state: inout State) {
        state.bytesOfWindow += count
        guard state.bytesOfWindow >= core.settings.bodyBytesPerWindow else { return }
        state.bytesOfWindow = 0
        connection.expect(.body, by: min(Monotonic.now() + core.timeouts.bodyWindow, state.bodyEnd))
    }

    /// The request is complete, or its connection was resumed: answer it.
    func proceed(_ handle: OpaquePointer) -> MHD_Result {
        let (phase, answer, excess, isCrowdedOut) = state.withLock {
            ($0.phase, $0.answer, $0.excess, $0.isCrowdedOut)
        }
        if phase == .resumed { core.gate.leaveSuspension() }
        if let answer { return queue(answer, handle) }
        guard phase == .body else { return .YES }
        guard excess == 0 else {
            return queue(refusal(.payloadTooLarge, "The body is too large."), handle)
        }
        guard !isCrowdedOut else {
            core.bodies.countRefusal()
            return queue(refusal(.overloaded, "Too many bodies are being received."), handle)
        }
        connection.expectNothing()
        let work = state.withLock { state in
            defer { state.body = [] }
            return (state.handler, state.head, state.body)
        }
        guard let handler = work.0, let head = work.1 else { return .NO }
        switch handler.handle(Request(head: head, body: work.2)) {
        case .now(let response): return queue(response, handle)
        case .later(let closure): return suspend(handle, closure)
        }
    }

    private func suspend(_ handle: OpaquePointer, _ closure: @escaping @Sendable () async -> Response) -> MHD_Result {
        guard core.gate.enterSuspension() else {
            return queue(refusal(.draining, "The server is stopping."), handle)
        }
        state.withLock { state in
            state.phase = .suspended
            state.handle = UInt(bitPattern: handle)
            MHD_suspend_connection(handle)
        }
        core.runners.run { self.resume(with: await closure()) }
        return .YES
    }

    /// Gives the answer of the task; later answers, after the server gave up waiting, are dropped.
    private func resume(with response: Response) {
        let isWanted = state.withLock { state in
            guard state.phase == .suspended, let handle = OpaquePointer(bitPattern: state.handle) else { return false }
            state.phase = .resumed
            state.answer = response
            state.handle = 0
            MHD_resume_connection(handle)
            return true
        }
        if !isWanted, case .events(let source) = response.body { core.engine.abandon(source) }
    }

    /// Answers in place of a task that did not finish within the grace of a stop.
    func giveUp() {
        guard state.withLock({ $0.phase == .suspended }) else { return }
        resume(with: refusal(.draining, "The server is stopping."))
    }

    func refusal(_ kind: Refusal.Kind, _ detail: StaticString) -> Response {
        core.refusal(Refusal(kind, detail), state.withLock { $0.requestID })
    }

    /// Sends an answer, with what every answer carries.
    func queue(_ response: Response, _ handle: OpaquePointer) -> MHD_Result {
        let head = state.withLock { state in
            state.phase = .answered
            state.answer = nil
            drop(&state)
            defer { (state.head, state.handler) = (nil, nil) }
            return state.head
        }
        guard case .events(let source) = response.body, let head else { return answer(response, head, handle) }
        if !head.isHead, let socket = connection.duplicate() {
            takeOver(response, from: source, head, socket)
            // Taken for a failure of ours: the library closes its own descriptor, and sends nothing.
            return .NO
        }
        core.engine.abandon(source)
        guard head.isHead else {
            return answer(refusal(.overloaded, "There is no room for another stream."), head, handle)
        }
        return answer(response.asStream(), head, handle)
    }

    private func answer(_ response: Response, _ head: RequestHead?, _ handle: OpaquePointer) -> MHD_Result {
        var response = response
        if let head { core.decorate(&response, head) }
        if core.gate.isDraining { response.set("Connection", "close") }
        state.withLock { state in
            state.status = response.status
            if case .bytes(let bytes) = response.body, head?.isHead != true { state.responseBytes = bytes.count }
        }
        connection.expect(.answer, by: Monotonic.now() + core.timeouts.answer)
        return Answer.queue(response, on: handle) ? .YES : .NO
    }

    /// Gives the connection to the stream engine.
    ///
    /// The library would keep its memory for as long as the stream lives, and look through all streams whenever a request
    /// goes on. It closes its descriptor without shutting anything down (`MHD_USE_TURBO`), so a copy goes on living.
    private func takeOver(_ response: Response, from source: any EventSource, _ head: RequestHead, _ socket: Int32) {
        var response = response.asStream()
        core.decorate(&response, head)
        let isChunked = head.minorVersion > 0
        if isChunked { response.set("Transfer-Encoding", "chunked") }
        let own = core.connections.add(copy: socket, of: connection)
        let served = state.withLock { state in
            state.isTakenOver = true
            state.status = response.status
            return state
        }
        let stream = EventStream(
            source: source, engine: core.engine, isChunked: isChunked, socket: socket, head: response.head("OK")
        ) { [core, receivedAt] isClean, bytes in
            // What the client still sends must not reset what it has not read yet.
            if isClean { core.lingerer.keep(socket) }
            core.connections.remove(own)
            close(socket)
            core.gate.endRequest()
            var served = served
            served.responseBytes = bytes
            core.observe(Exchange(served, on: own, since: receivedAt, end: isClean ? .completed : .aborted))
        }
        core.engine.post(.opened(stream))
    }

    /// The library is done with this request.
    func complete(wasCompleted: Bool, status: Int) {
        connection.call = nil
        connection.expect(.idle, by: Monotonic.now() + core.timeouts.idle)
        let end: Exchange.End = connection.wasCut ? .timeout : wasCompleted ? .completed : .aborted
        let (exchange, wasWaiting) = state.withLock { state in
            drop(&state)
            if state.status == 0 { state.status = status }
            let wasWaiting = state.phase == .suspended || state.phase == .resumed
            state.phase = .answered
            let exchange = state.isTakenOver ? nil : Exchange(state, on: connection, since: receivedAt, end: end)
            return (exchange, wasWaiting)
        }
        if wasWaiting { core.gate.leaveSuspension() }
        guard let exchange else { return }
        core.gate.endRequest()
        core.observe(exchange)
    }
}

extension Exchange {
    fileprivate init(_ state: borrowing Call.State, on connection: Connection, since receivedAt: Int64, end: End) {
        self.init(
            method: state.methodName, routePattern: state.routePattern, status: state.status,
            duration: Monotonic.now() - receivedAt, requestBytes: state.receivedBytes,
            responseBytes: state.responseBytes, requestID: state.requestID, peer: connection.peer,
            client: state.client, end: end)
    }
}

extension Response {
    /// With the fields of an event stream.
    fileprivate func asStream() -> Response {
        var response = self
        response.body = .empty
        response.set("Content-Type", "text/event-stream; charset=utf-8")
        response.set("Cache-Control", "no-store")
        response.set("X-Accel-Buffering", "no")
        response.set("Connection", "close")
        return response
    }
}
