public import Domain
public import HTTP

/// The version of a resource as an entity tag (RFC 9110 §8.8.3), always strong.
public struct ETag: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    public init(_ version: Int64) { text = "\"\(version)\"" }

    /// - Parameter opaque: what stands between the quotes; plain ASCII without quotes.
    public init(opaque: String) { text = "\"\(opaque)\"" }

    public var description: String { text }
}

extension Request {
    /// Checks `If-Match` of a write that must not overwrite what its author has not seen (RFC 9110 §13.1.1).
    public func requireMatch(_ current: ETag) throws(Failure) {
        guard let header = head.headers["if-match"] else { throw .unconditional }
        guard Self.names(header, current, isWeak: false) else { throw .outdated }
    }

    /// As `requireMatch`, where sending no condition is allowed.
    public func checkMatch(_ current: ETag) throws(Failure) {
        guard head.headers["if-match"] != nil else { return }
        try requireMatch(current)
    }

    /// Whether the client holds this version already (RFC 9110 §13.1.2).
    public func holds(_ current: ETag) -> Bool {
        guard let header = head.headers["if-none-match"] else { return false }
        return Self.names(header, current, isWeak: true)
    }

    private static func names(_ header: String, _ tag: ETag, isWeak: Bool) -> Bool {
        // The usual header of one strong tag needs no taking apart.
        if header == tag.text { return true }
        return header.utf8.split(separator: 0x2C).contains { part in
            var candidate = part.drop { $0 == 0x20 || $0 == 0x09 }
            while let last = candidate.last, last == 0x20 || last == 0x09 { candidate = candidate.dropLast() }
            if candidate.elementsEqual("*".utf8) { return true }
            if isWeak, candidate.starts(with: "W/".utf8) { candidate = candidate.dropFirst(2) }
            return candidate.elementsEqual(tag.text.utf8)
        }
    }
}

extension Response {
    public static func notModified(_ tag: ETag) -> Response {
        Response(status: 304, headers: [("ETag", tag.text), ("Cache-Control", "private, no-cache")], body: .empty)
    }
}
