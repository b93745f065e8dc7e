import HTTP
import Synchronization
import TestKit
import Testing
import Wire

/// Waits for something that another thread does; the closure is asked again and again, briefly.
func eventually(_ isTrue: @Sendable () -> Bool) async -> Bool {
    for _ in 0..<2000 {
        if isTrue() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return isTrue()
}

struct ClosureHandler: Handler {
    var admission: @Sendable (RequestHead) -> Response? = { _ in nil }
    let answer: @Sendable (Request) -> Outcome

    func admit(_ head: RequestHead) -> Admission { admission(head).map { .refused($0) } ?? .admitted(self) }
    func handle(_ request: Request) -> Outcome { answer(request) }
}

/// A door that tasks wait at until the test opens it.
final class Door: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    var isOpen: Bool { state.withLock { $0.isOpen } }
    var waiting: Int { state.withLock { $0.waiting.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// A stream source that tells the test what happens to it.
final class Source: EventSource {
    struct Seen {
        var stream: EventStream?
        var ends: [EventStream.End] = []
        var writable = 0
    }

    let opening: [UInt8]
    let farewell: Frame?
    let seen = Mutex(Seen())
    let onOpen: @Sendable (EventStream) -> Void

    init(
        opening: [UInt8] = Array("retry: 1000\n\n".utf8), farewell: Frame? = nil,
        onOpen: @escaping @Sendable (EventStream) -> Void = { _ in }
    ) {
        self.opening = opening
        self.farewell = farewell
        self.onOpen = onOpen
    }

    var stream: EventStream? { seen.withLock { $0.stream } }
    var ends: [EventStream.End] { seen.withLock { $0.ends } }

    func opened(_ stream: EventStream) {
        seen.withLock { $0.stream = stream }
        onOpen(stream)
    }

    func writable(_ stream: EventStream) { seen.withLock { $0.writable += 1 } }
    func closed(_ stream: EventStream, _ end: EventStream.End) {
        seen.withLock { seen in
            seen.stream = nil
            seen.ends.append(end)
        }
    }
}

/// A server on loopback with a handful of routes, and what it saw.
final class Scene: Sendable {
    let server: Server
    let executed = Mutex<[String]>([])
    let exchanges = Mutex<[Exchange]>([])
    let sources = Mutex<[Source]>([])
    let door = Door()

    init(
        _ change: (inout Server.Settings) -> Void = { _ in },
        makeSource: @escaping @Sendable () -> Source = { Source() }
    ) throws {
        var settings = Server.Settings()
        settings.workers = 4
        change(&settings)
        let box = Box()
        server = Server(
            settings: settings, router: try Router(Scene.routes(box, door, makeSource)),
            refuse: { refusal, id in
                Response(
                    status: refusal.status, headers: [("Content-Type", "text/plain")],
                    body: .bytes(Array("\(refusal.detail)".utf8)))
            },
            observe: { exchange in box.scene?.exchanges.withLock { $0.append(exchange) } },
            requestID: { $0["Request-Id"] ?? "none" },
            decorate: { response, head in response.set("Request-Id", head.id) })
        box.state.withLock { $0 = WeakScene(scene: self) }
        try server.start()
    }

    struct WeakScene {
        weak var scene: Scene?
    }

    final class Box: Sendable {
        let state = Mutex(WeakScene())
        var scene: Scene? { state.withLock { $0.scene } }

        func note(_ text: String) { scene?.executed.withLock { $0.append(text) } }
    }

    func client(timeout: Int = 10, receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: server.port, timeout: timeout, receiveBuffer: receiveBuffer)
    }

    var lastSource: Source? { sources.withLock { $0.last } }

    private static func text(_ text: String) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/plain")], body: .bytes(Array(text.utf8)))
    }

    private static func routes(
        _ box: Box, _ door: Door, _ makeSource: @escaping @Sendable () -> Source
    ) -> [(Route, any Handler)] {
        let events = ClosureHandler { _ in
            let source = makeSource()
            box.scene?.sources.withLock { $0.append(source) }
            return .now(Response(status: 200, body: .events(source)))
        }
        return plainRoutes(box) + bodyRoutes(box) + [
            (Route(.get, "/async"), task(box, "async") { await Task.yield() }),
            (Route(.get, "/held"), task(box, "held") { await door.pass() }),
            (Route(.get, "/events", produces: ["text/event-stream"]), events),
        ]
    }

    private static func task(
        _ box: Box, _ name: String, _ wait: @escaping @Sendable () async -> Void
    ) -> ClosureHandler {
        ClosureHandler { _ in
            .later {
                await wait()
                box.note(name)
                return text(name)
            }
        }
    }

    private static func plainRoutes(_ box: Box) -> [(Route, any Handler)] {
        let noted: @Sendable (String) -> ClosureHandler = { name in
            ClosureHandler { request in
                box.note(name)
                return .now(text(request.head.parameters.first?.value ?? name))
            }
        }
        let fixed: (Response) -> ClosureHandler = { response in ClosureHandler { _ in .now(response) } }
        let large = Response(status: 200, body: .bytes([UInt8](repeating: 0x61, count: 3 << 20)))
        return [
            (Route(.get, "/"), noted("root")),
            (Route(.get, "/fast", produces: ["text/plain"]), noted("fast")),
            (Route(.get, "/items/{item}"), noted("item")),
            (Route(.delete, "/items/{item}"), noted("delete")),
            (Route(.get, "/empty"), fixed(Response(status: 204))),
            (Route(.get, "/unchanged"), fixed(Response(status: 304, headers: [("ETag", "\"1\"")]))),
            (Route(.get, "/large"), fixed(large)),
        ]
    }

    private static func bodyRoutes(_ box: Box) -> [(Route, any Handler)] {
        let echo = ClosureHandler { request in
            box.note("echo")
            return .now(Response(status: 200, body: .bytes(request.body)))
        }
        let secret = ClosureHandler(admission: { head in
            head.headers["Authorization"] == nil ? Response(status: 401, body: .bytes(Array("who?".utf8))) : nil
        }) { request in
            box.note("secret")
            return .now(text("\(request.body.count)"))
        }
        return [
            (Route(.post, "/echo", body: .limited(bytes: 1 << 20, mediaTypes: [])), echo),
            (Route(.post, "/json", body: .limited(bytes: 1024, mediaTypes: ["application/json"])), echo),
            (Route(.post, "/secret", body: .limited(bytes: 1024, mediaTypes: [])), secret),
        ]
    }
}
