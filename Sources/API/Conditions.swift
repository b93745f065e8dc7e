package import Domain
package import HTTP

/// The version of a resource as an entity tag (RFC 9110 §8.8.3), always strong.
package struct ETag: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ version: Int64) { text = "\"\(version)\"" }

    /// - Parameter opaque: what stands between the quotes; plain ASCII without quotes.
    package init(opaque: String) { text = "\"\(opaque)\"" }

    package var description: String { text }
}

extension Request {
    /// Checks `If-Match` of a write that must not overwrite what its author has not seen (RFC 9110 §13.1.1).
    package func requireMatch(_ current: ETag) throws(Failure) {
        guard let header = head.headers["if-match"] else { throw .unconditional }
        guard Self.names(header, current, isWeak: false) else { throw .outdated }
    }

    /// As `requireMatch`, where sending no condition is allowed.
    package func checkMatch(_ current: ETag) throws(Failure) {
        guard head.headers["if-match"] != nil else { return }
        try requireMatch(current)
    }

    /// Whether the client holds this version already (RFC 9110 §13.1.2).
    package func holds(_ current: ETag) -> Bool {
        guard let header = head.headers["if-none-match"] else { return false }
        return Self.names(header, current, isWeak: true)
    }

    private static func names(_ header: String, _ tag: ETag, isWeak: Bool) -> Bool {
        header.split(separator: ",").contains { part in
            var candidate = part.drop { $0 == " " || $0 == "\t" }
            while candidate.last == " " || candidate.last == "\t" { candidate = candidate.dropLast() }
            if candidate == "*" { return true }
            if isWeak, candidate.hasPrefix("W/") { candidate = candidate.dropFirst(2) }
            return candidate == tag.text
        }
    }
}

extension Response {
    package static func notModified(_ tag: ETag) -> Response {
        Response(status: 304, headers: [("ETag", tag.text), ("Cache-Control", "private, no-cache")], body: .empty)
    }
}
