import Wire

/// Where an authorization answer may go.
enum RedirectURI {
    /// Whether an app may be answered there: exactly a registered URI, byte for byte; only the port of an `http`
    /// address on loopback may differ, because a native app listens where it finds room (RFC 8252 §7.3).
    static func isRegistered(_ uri: String, among registered: [String]) -> Bool {
        let portless = withoutLoopbackPort(uri)
        return registered.contains { candidate in
            if candidate.utf8.elementsEqual(uri.utf8) { return true }
            guard let portless, let other = withoutLoopbackPort(candidate) else { return false }
            return portless == other
        }
    }

    /// The URI with parameters added to its query.
    static func answer(_ uri: String, _ parameters: [(String, String?)]) -> String {
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(PercentCoding.encode($0))" } }
        let separator = uri.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return uri + separator + query.joined(separator: "&")
    }

    /// The bytes of a loopback URI with its port taken out; `nil` for any other URI.
    private static func withoutLoopbackPort(_ uri: String) -> [UInt8]? {
        let bytes = Array(uri.utf8)
        for origin in ["http://127.0.0.1", "http://[::1]"] {
            let prefix = Array(origin.utf8)
            guard bytes.starts(with: prefix) else { continue }
            let rest = bytes.dropFirst(prefix.count)
            guard let next = rest.first else { return bytes }
            guard next == UInt8(ascii: ":") else { return isPathOrQuery(next) ? bytes : nil }
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            let after = rest.dropFirst(1 + digits.count)
            guard let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port) else {
                return nil
            }
            guard after.first.map(isPathOrQuery) ?? true else { return nil }
            return prefix + after
        }
        return nil
    }

    private static func isPathOrQuery(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") }
}
