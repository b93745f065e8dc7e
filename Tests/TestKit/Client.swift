import Glibc
import Lanes
import Synchronization
package import Wire

/// A client of the API: one connection at a time, blocking calls on a lane of its own.
package final class Client: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]

        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as JSON; `null` when it is none, so that an expectation on a member fails with the body at hand.
        package var json: JSON { (try? JSON.parse(body)) ?? .null }

        package subscript(key: String) -> JSON? { json[key] }
    }

    package let port: Int
    private let lane = Lane(name: "client")
    private let connection = Mutex<RawClient?>(nil)

    private let observe: @Sendable (Answer) -> Void

    /// Makes a client that connects with its first request; `observe` is told each answer.
    package init(port: Int, observe: @escaping @Sendable (Answer) -> Void = { _ in }) {
        self.port = port
        self.observe = observe
    }

    /// Sends one request and reads its answer; a kept-alive connection that the server has closed is opened anew.
    package func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Answer {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.count)\r\n" }
        let request = Array(text.utf8) + [0x0D, 0x0A] + (body ?? [])
        let answer = try await lane.run { [self] () throws -> Answer in
            try exchange(request, isHead: method == "HEAD")
        }
        Exchanges.record(method, target, body, answer)
        observe(answer)
        return answer
    }

    private func exchange(_ request: [UInt8], isHead: Bool) throws -> Answer {
        try connection.withLock { connection in
            if let kept = connection, kept.isQuiet {
                do { return try Self.ask(kept, request, isHead) } catch { connection = nil }
            }
            let fresh = try RawClient(port: port, timeout: 30)
            connection = fresh
            let answer = try Self.ask(fresh, request, isHead)
            if answer.header("Connection")?.lowercased() == "close" { connection = nil }
            return answer
        }
    }

    private static func ask(_ connection: RawClient, _ request: [UInt8], _ isHead: Bool) throws -> Answer {
        try connection.send(request)
        var raw = try connection.answer(isHead: isHead)
        while raw.status == 100 { raw = try connection.answer(isHead: isHead) }
        return Answer(status: raw.status, headers: raw.headers, body: raw.body)
    }
}

extension RawClient {
    /// Whether the connection is still open and has nothing to read.
    fileprivate var isQuiet: Bool {
        var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) == 0
    }
}

/// Every exchange of the tests, for the contract check: one JSON object per line in `ENFILADE_EXCHANGES_DIR`.
package enum Exchanges {
    private static let file = Mutex<Int32?>(open())

    private static func open() -> Int32? {
        guard let directory = getenv("ENFILADE_EXCHANGES_DIR") else { return nil }
        let path = "\(String(cString: directory))/\(getpid()).jsonl"
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        return descriptor >= 0 ? descriptor : nil
    }

    package static func record(_ method: String, _ target: String, _ body: [UInt8]?, _ answer: Client.Answer) {
        file.withLock { file in
            guard let file else { return }
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("method", method)
            writer.field("path", target)
            writer.field("status", answer.status)
            writer.field("contentType", answer.header("Content-Type") ?? "")
            writer.key("headers")
            writer.value(.object(JSON.Object(answer.headers.map { ($0.name, .string($0.value)) })))
            writer.field("body", answer.text)
            if let body { writer.field("requestBody", String(decoding: body, as: UTF8.self)) }
            writer.endObject()
            let line = writer.finish() + [0x0A]
            _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        }
    }
}
