import Glibc
import Lanes
import Synchronization
package import Wire

/// One open event stream: its events in order, each waited for.
package final class EventReader: Sendable {
    package typealias Event = ServerSentEventParser.Event

    package struct Ended: Error {}

    private let client: RawClientBox
    private let lane = Lane(name: "event-reader")

    private init(_ client: RawClientBox) { self.client = client }

    /// Opens a stream; the answer when it is none.
    package static func open(
        _ signedIn: SignedIn, after cursor: String? = nil, port: Int? = nil
    ) async throws -> EventReader {
        let lane = Lane(name: "event-opener")
        let port = port ?? signedIn.server.port
        var text = "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
        text += "Authorization: Bearer \(signedIn.accessToken)\r\n"
        if let cursor { text += "Last-Event-ID: \(cursor)\r\n" }
        let request = text + "\r\n"
        let box = try await lane.run { () throws -> RawClientBox in
            let client = try RawClient(port: port, timeout: 30)
            try client.send(request)
            var answer = try client.head()
            guard answer.status == 200 else {
                answer.body = try client.bytes(answer.header("Content-Length").flatMap { Int($0) } ?? 0)
                Exchanges.recordStream(answer, received: answer.body)
                throw TestServer.Fault("stream: \(answer.status) \(answer.text)")
            }
            return RawClientBox(client, answer)
        }
        return EventReader(box)
    }

    /// The next event of any kind but heartbeats; throws `Ended` when the stream has.
    package func next() async throws -> Event {
        try await lane.run { [client] () throws -> Event in try client.next() }
    }

    /// The next event of this kind; others before it are passed over, and returned by nobody.
    package func next(_ name: String) async throws -> Event {
        while true {
            let event = try await next()
            if event.event == name { return event }
        }
    }

    package func close() { client.close() }
}

/// A raw client and a parser that one lane uses.
private final class RawClientBox: Sendable {
    private struct State: ~Copyable {
        let client: RawClient
        let head: RawClient.Answer
        var received: [UInt8] = []
        var parser = ServerSentEventParser()
        var ready: [EventReader.Event] = []
    }

    private let state: Mutex<State>
    private let socket: Int32

    init(_ client: sending RawClient, _ head: RawClient.Answer) {
        socket = client.socket
        state = Mutex(State(client: client, head: head))
    }

    deinit {
        state.withLock { Exchanges.recordStream($0.head, received: $0.received) }
    }

    func next() throws -> EventReader.Event {
        try state.withLock { state in
            while true {
                if !state.ready.isEmpty {
                    let event = state.ready.removeFirst()
                    if event.event != "heartbeat" { return event }
                    continue
                }
                let bytes = try state.client.chunk()
                guard !bytes.isEmpty else { throw EventReader.Ended() }
                state.received += bytes
                state.ready += try state.parser.feed(bytes)
            }
        }
    }

    /// Ends the connection without waiting for whoever is reading from it.
    func close() { shutdown(socket, Int32(SHUT_RDWR)) }
}

extension Exchanges {
    fileprivate static func recordStream(_ head: RawClient.Answer, received: [UInt8]) {
        let answer = Client.Answer(status: head.status, headers: head.headers, body: received)
        record("GET", "/v1/events", nil, answer)
    }
}
