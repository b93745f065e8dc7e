/// Everything known of a request before its body.
///
/// A class because it is handed from one to the next on every request's way, and holds a dozen things that count references.
public final class RequestHead: Sendable {
    /// A HEAD request is reported as `.get` with `isHead`, so that handlers need not tell them apart.
    public let method: Method
    public let isHead: Bool
    /// The path as sent, still percent-encoded, without query.
    public let rawPath: String
    /// The query's pairs, form-decoded, in order.
    public let query: [(name: String, value: String)]
    public let headers: Headers
    /// Decoded path parameters in the order of the pattern.
    public let parameters: [(name: String, value: String)]
    /// The pattern of the matched route; empty for requests refused before a route was found.
    public let routePattern: String
    public let peer: Address
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    public let minorVersion: Int
    /// Nanoseconds of `Monotonic` when the request line had arrived.
    public let receivedAt: Int64
    public let id: String

    public init(
        method: Method, rawPath: String, isHead: Bool = false, query: [(name: String, value: String)] = [],
        headers: Headers = Headers(), parameters: [(name: String, value: String)] = [], routePattern: String = "",
        peer: Address, minorVersion: Int = 1, receivedAt: Int64 = 0, id: String = ""
    ) {
        self.method = method
        self.isHead = isHead
        self.rawPath = rawPath
        self.query = query
        self.headers = headers
        self.parameters = parameters
        self.routePattern = routePattern
        self.peer = peer
        self.minorVersion = minorVersion
        self.receivedAt = receivedAt
        self.id = id
    }

    /// Whether something may come between the head and the end, even if it is nothing in the end (RFC 9112 §6).
    public var announcesBody: Bool { headers["Transfer-Encoding"] != nil || headers["Content-Length"] != nil }

    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}

public struct Request: Sendable {
    public var head: RequestHead
    public var body: [UInt8]

    public init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
