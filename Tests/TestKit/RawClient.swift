import Glibc
import Lanes
import Synchronization

/// A blocking client that writes exactly what it is told and reads what comes back.
package final class RawClient: Sendable {
    package struct Broken: Error {
        package let what: String
    }

    /// One response as read from the wire.
    package struct Answer {
        package var status: Int
        package var head: String
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        package var headers: [(name: String, value: String)] {
            head.split(separator: "\r\n").dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
            }
        }

        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    private let descriptor: Atomic<Int32>
    private let received = Mutex<[UInt8]>([])

    package var socket: Int32 { descriptor.load(ordering: .relaxed) }
    private var buffer: [UInt8] {
        get { received.withLock { $0 } }
        set { received.withLock { $0 = newValue } }
    }

    /// Connects; not for asynchronous code, which runs it within `blocking`.
    ///
    /// Who blocks one of the few threads that tests share may wait for a server of this very process, which needs them.
    @available(*, noasync)
    package init(port: Int, timeout: Int = 30, receiveBuffer: Int32? = nil) throws {
        // Not inherited: a program that another test starts meanwhile would keep the connection open.
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = Atomic(socket)
        guard socket >= 0 else { throw Broken(what: "socket: \(errno)") }
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var time = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Broken(what: "connect: \(errno)") }
    }

    deinit {
        close()
    }

    package func close() {
        let socket = descriptor.exchange(-1, ordering: .relaxed)
        if socket >= 0 { Glibc.close(socket) }
    }

    /// Closes with a reset instead of a farewell.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    package func finishWriting() {
        shutdown(socket, Int32(SHUT_WR))
    }

    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Broken(what: "send: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads more; false at the end of the connection, a reset included.
    package func fill() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &piece, piece.count, 0)
        if count > 0 {
            received.withLock { $0.append(contentsOf: piece[..<count]) }
            return true
        }
        if count == 0 || errno == ECONNRESET { return false }
        throw Broken(what: "recv: \(errno)")
    }

    package func line() throws -> String {
        while true {
            if let end = buffer.indices.first(where: { buffer[$0] == 0x0A && $0 > 0 && buffer[$0 - 1] == 0x0D }) {
                let line = String(decoding: buffer[..<(end - 1)], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            guard try fill() else { throw Broken(what: "end in a line: \(buffer.count) bytes") }
        }
    }

    package func bytes(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw Broken(what: "end in a body") }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Reads one response head.
    package func head() throws -> Answer {
        let first = try line()
        let parts = first.split(separator: " ")
        guard parts.count >= 2, let status = Int(parts[1]) else { throw Broken(what: "status line: \(first)") }
        var head = first + "\r\n"
        while true {
            let next = try line()
            guard !next.isEmpty else { return Answer(status: status, head: head, body: []) }
            head += next + "\r\n"
        }
    }

    /// Reads one response with a body of known length.
    package func answer(isHead: Bool = false) throws -> Answer {
        var answer = try head()
        guard !isHead, answer.status != 304, let length = answer.header("Content-Length").flatMap({ Int($0) }) else {
            return answer
        }
        answer.body = try bytes(length)
        return answer
    }

    /// The payload of one chunk; empty at the end of the body.
    package func chunk() throws -> [UInt8] {
        guard let size = Int(try line(), radix: 16) else { throw Broken(what: "chunk size") }
        defer { _ = try? line() }
        return size == 0 ? [] : try bytes(size)
    }

    /// Everything until the connection ends.
    package func rest() throws -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether the other side has closed and nothing more comes.
    package func isEnded() throws -> Bool {
        try rest().isEmpty
    }
}

/// Runs what blocks on a thread of its own.
package func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await Lane(name: "blocking").run { () throws -> Value in try work() }
}
