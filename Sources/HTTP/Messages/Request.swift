/// Everything known of a request before its body.
public struct RequestHead: Sendable {
    /// A HEAD request is reported as `.get` with `isHead`, so that handlers need not tell them apart.
    public var method: Method
    public var isHead: Bool
    /// The path as sent, still percent-encoded, without query.
    public var rawPath: String
    /// The query's pairs, form-decoded, in order.
    public var query: [(name: String, value: String)]
    public var headers: Headers
    /// Decoded path parameters in the order of the pattern.
    public var parameters: [(name: String, value: String)]
    /// The pattern of the matched route; empty for requests refused before a route was found.
    public var routePattern: String
    public var peer: Address
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    public var minorVersion: Int
    /// Nanoseconds of `Monotonic` when the request line had arrived.
    public var receivedAt: Int64
    public var id: String

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
