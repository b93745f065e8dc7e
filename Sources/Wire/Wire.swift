// Wire: pure functions between values and the bytes that carry them.
//
// Text codings (base64, hex, percent, forms, HTML), identifiers and times, JSON, event streams, and the binary shape of
// opaque cursors. Nothing here reads a clock, draws a random number, touches a file or a socket, or calls C: what a
// function returns depends on its arguments alone.
//
// Decoders are strict, because two readers that disagree about one message are how checks are walked around: one
// spelling is accepted per value where the format allows it, and anything else is refused. No input makes one trap.
//
// A decoder answers nil when there is only one thing to say ("this is not base64"); it throws a typed fault when the
// place of the fault helps whoever sent the bytes (`JSON.Fault`, `ByteReader.Fault`).

/// Whether two texts are the same bytes.
///
/// `String`'s own `==` calls "é" equal to "e" with a combining accent. What is stored, signed or compared by other
/// programs differs there, so keys and JSON values are compared this way.
func sameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
}

extension Span where Element == UInt8 {
    /// The number written as exactly `count` ASCII digits at `offset`; nil when any of them is not a digit.
    func decimal(at offset: Int, count: Int) -> Int? {
        guard offset >= 0, offset + count <= self.count else { return nil }
        var value = 0
        for index in offset..<(offset + count) {
            guard self[index].isDigit else { return nil }
            value = value * 10 + Int(self[index] - Ascii.zero)
        }
        return value
    }
}

/// The bytes that the formats of this room give a meaning to.
enum Ascii {
    static let backspace: UInt8 = 0x08
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let formFeed: UInt8 = 0x0C
    static let carriageReturn: UInt8 = 0x0D
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let percent = UInt8(ascii: "%")
    static let ampersand = UInt8(ascii: "&")
    static let plus = UInt8(ascii: "+")
    static let comma = UInt8(ascii: ",")
    static let minus = UInt8(ascii: "-")
    static let dot = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let colon = UInt8(ascii: ":")
    static let equals = UInt8(ascii: "=")
    static let backslash = UInt8(ascii: "\\")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
}

extension UInt8 {
    var isDigit: Bool { self &- Ascii.zero < 10 }
}
