/// Everything known of a request before its body.
package struct RequestHead: Sendable {
    /// A HEAD request is reported as `.get` with `isHead`, so that handlers need not tell them apart.
    package var method: Method
    package var isHead: Bool
    /// The path as sent, still percent-encoded, without query.
    package var rawPath: String
    /// The query's pairs, form-decoded, in order.
    package var query: [(name: String, value: String)]
    package var headers: Headers
    /// Decoded path parameters in the order of the pattern.
    package var parameters: [(name: String, value: String)]
    /// The pattern of the matched route; empty for requests refused before a route was found.
    package var routePattern: String
    package var peer: Address
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    package var minorVersion: Int
    /// Nanoseconds of `Monotonic` when the request line had arrived.
    package var receivedAt: Int64
    package var id: String

    package init(
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

    package func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}

package struct Request: Sendable {
    package var head: RequestHead
    package var body: [UInt8]

    package init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
