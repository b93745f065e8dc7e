/// Byte-wise text rules of HTTP (RFC 9110 §5.5, §5.6): ASCII case, tokens, optional whitespace.
enum Text {
    static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        let left = left.utf8.span
        let right = right.utf8.span
        guard left.count == right.count else { return false }
        for index in left.indices where lowered(left[index]) != lowered(right[index]) { return false }
        return true
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Tab, visible ASCII, space and obs-text; everything a field value may hold.
    static func isFieldByte(_ byte: UInt8) -> Bool {
        byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
    }

    // Loops over spans, which unlike closures over strings are never left uncompiled for their types.

    static func isToken(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !isTokenByte(bytes[index]) { return false }
        return true
    }

    static func isFieldValue(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !isFieldByte(bytes[index]) { return false }
        return true
    }

    /// The text without spaces and tabs at its ends.
    static func trimmed(_ text: Substring) -> Substring {
        // Byte by byte: a blank and a combining accent behind it are one Character, and would go together.
        var bytes = text.utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }

    /// Members of a comma-separated list, trimmed, empty ones dropped.
    static func members(_ text: String) -> [Substring] {
        text.utf8.split(separator: 0x2C).map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }
}
