/// Addresses that an app may register, checked as text: what is compared exactly later must be plain now.
enum WebAddress {
    /// Whether somebody who signed in may be sent there (RFC 8252 §7).
    ///
    /// `https`, `http` on a loopback address, or a private-use scheme, told by its dot; no user, fragment and wildcard.
    static func isRedirect(_ text: String) -> Bool {
        guard (1...2048).contains(text.utf8.count), isPlain(text), let (scheme, rest) = split(text) else {
            return false
        }
        switch scheme {
        case "https": return authority(rest)?.isHost ?? false
        case "http": return authority(rest)?.isLoopback ?? false
        default: return scheme.contains(".") && isPrivate(rest)
        }
    }

    /// Whether a web page there may open an app: `https`, in its path `*` for any rest, before its host `*.` for any part.
    static func isUniversalLink(_ text: String) -> Bool {
        guard (9...512).contains(text.utf8.count), isPlain(text, or: UInt8(ascii: "*")) else { return false }
        guard let (scheme, rest) = split(text), scheme == "https", var name = authorityText(rest) else { return false }
        if name.hasPrefix("*.") { name = name.dropFirst(2) }
        return Authority(name)?.isHost ?? false
    }

    private static func split(_ text: String) -> (scheme: Substring, rest: Substring)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        let isScheme = scheme.utf8.allSatisfy { Ascii.isLower($0) || Ascii.isDigit($0) || Ascii.isOne($0, of: "+.-") }
        guard isScheme, let first = scheme.utf8.first, Ascii.isLower(first) else { return nil }
        return (scheme, text[text.index(after: colon)...])
    }

    /// A private-use scheme is followed by a path; some write an authority before it (RFC 8252 §7.1).
    private static func isPrivate(_ rest: Substring) -> Bool {
        guard let name = authorityText(rest) else {
            return rest.hasPrefix("/") && !rest.utf8.contains(where: Self.isBracket)
        }
        return name.isEmpty || Authority(name) != nil
    }

    private static func authority(_ rest: Substring) -> Authority? { authorityText(rest).flatMap(Authority.init) }

    /// What stands between `//` and the path or query; `nil` without `//`, or when what follows has brackets.
    private static func authorityText(_ rest: Substring) -> Substring? {
        guard rest.hasPrefix("//") else { return nil }
        let text = rest.dropFirst(2)
        let end = text.firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
        return text[end...].utf8.contains(where: isBracket) ? nil : text[..<end]
    }

    private static func isBracket(_ byte: UInt8) -> Bool { Ascii.isOne(byte, of: "[]") }

    /// Of the characters of RFC 3986 without `#` and `*`, and with whole escapes.
    private static func isPlain(_ text: String, or other: UInt8? = nil) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else {
                return Ascii.isAlphanumeric(bytes[index]) || bytes[index] == other
                    || Ascii.isOne(bytes[index], of: "-._~:/?[]@!$&'()+,;=")
            }
            return index + 2 < bytes.count && bytes[index + 1...index + 2].allSatisfy(Ascii.isHexDigit)
        }
    }
}

/// A host with perhaps a port; never a user.
private struct Authority {
    let host: Substring

    init?(_ text: Substring) {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[...end]
            guard Self.isPort(text[text.index(after: end)...]) else { return nil }
            guard host.dropFirst().dropLast().utf8.allSatisfy({ Ascii.isHexDigit($0) || Ascii.isOne($0, of: ":.") })
            else {
                return nil
            }
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<end]
            guard Self.isPort(text[end...]), Self.isName(host) else { return nil }
        }
    }

    var isHost: Bool { !host.isEmpty && host != "[]" }

    var isLoopback: Bool { host == "127.0.0.1" || host == "[::1]" }

    private static func isName(_ text: Substring) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { Ascii.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    /// Nothing, or `:` and a number from 1 to 65535.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == ":", digits.utf8.allSatisfy(Ascii.isDigit), digits.first != "0" else { return false }
        return UInt16(digits) != nil
    }
}
