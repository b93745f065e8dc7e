import Glibc
import Wire

/// What follows the head of a response.
public enum Body: Sendable {
    case empty
    case bytes([UInt8])
    /// An open event stream; the source decides what is sent and when it ends.
    case events(any EventSource)
}

/// An answer; header names and values that could break the framing cannot be put into one.
public struct Response: Sendable {
    public var status: Int
    public private(set) var headers: [(String, String)]
    public var body: Body

    public init(status: Int, headers: [(String, String)] = [], body: Body = .empty) {
        self.status = status
        self.headers = headers.allSatisfy(Response.isClean) ? headers : headers.map(Response.clean)
        self.body = body
    }

    public subscript(_ name: String) -> String? {
        for index in headers.indices where Text.equalIgnoringCase(headers[index].0, name) { return headers[index].1 }
        return nil
    }

    public mutating func add(_ name: String, _ value: String) {
        headers.append(Response.isClean((name, value)) ? (name, value) : Response.clean((name, value)))
    }

    /// Replaces every field of this name.
    public mutating func set(_ name: String, _ value: String) {
        if self[name] != nil { headers.removeAll { Text.equalIgnoringCase($0.0, name) } }
        add(name, value)
    }

    private static func isClean(_ field: (String, String)) -> Bool {
        Text.isToken(field.0) && Text.isFieldValue(field.1)
    }

    /// Control characters in values become spaces, and bytes that are no token in names become `-`.
    private static func clean(_ field: (String, String)) -> (String, String) {
        let name = field.0.utf8.map { Text.isTokenByte($0) ? $0 : 0x2D }
        let value = field.1.utf8.map { Text.isFieldByte($0) ? $0 : 0x20 }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
}

// For connections that the library does not answer.
extension Response {
    /// The head as it is sent (RFC 9112 §4); `reason` is for people who read traces.
    func head(_ reason: StaticString) -> [UInt8] {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var head = "HTTP/1.1 \(status) \(reason)\r\n"
        head += "Date: \(HTTPDate.format(Instant(microseconds: Int64(time.tv_sec) * 1_000_000)))\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8)
    }
}
