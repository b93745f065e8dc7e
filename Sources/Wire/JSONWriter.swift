/// Writes JSON straight into bytes, without a tree between.
///
/// Commas come by themselves; that begins match ends and every key has a value is the caller's part.
public struct JSONWriter: Sendable {
    private var bytes: [UInt8] = []
    private var needsComma = false

    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// The bytes written.
    public consuming func finish() -> [UInt8] { bytes }

    /// The bytes written, as one line of JSON Lines.
    public consuming func finishLine() -> [UInt8] {
        bytes.append(Ascii.lineFeed)
        return bytes
    }

    public mutating func beginObject() { begin(Ascii.openBrace) }
    public mutating func endObject() { end(Ascii.closeBrace) }
    public mutating func beginArray() { begin(Ascii.openBracket) }
    public mutating func endArray() { end(Ascii.closeBracket) }

    /// Writes a key that needs no escaping: a literal without quotes, backslashes and control characters.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(Ascii.quote)
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(Ascii.quote)
        bytes.append(Ascii.colon)
        needsComma = false
    }

    public mutating func key(_ name: String) {
        string(name)
        bytes.append(Ascii.colon)
        needsComma = false
    }

    public mutating func null() { literal("null") }
    public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }
    public mutating func integer(_ value: Int) { integer(Int64(value)) }

    public mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(Ascii.minus) }
        let start = bytes.count
        var rest = value.magnitude
        repeat {
            bytes.append(Ascii.zero + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    public mutating func number(_ value: JSON.Number) {
        separate()
        bytes.append(contentsOf: value.text.utf8)
    }

    public mutating func string(_ value: String) {
        separate()
        bytes.append(Ascii.quote)
        appendEscaped(value)
        bytes.append(Ascii.quote)
    }

    /// Writes a string that needs no escaping, as `key(_: StaticString)`.
    public mutating func string(_ value: StaticString) {
        quoted { bytes in value.withUTF8Buffer { bytes.append(contentsOf: $0) } }
    }

    /// Writes a string of standard base64.
    public mutating func base64(_ value: [UInt8]) {
        quoted { Base64.write(value, to: &$0) }
    }

    public mutating func uuid(_ value: UUID) {
        quoted { value.write(to: &$0) }
    }

    public mutating func instant(_ value: Instant) {
        quoted { value.write(to: &$0) }
    }

    /// Writes bytes that are one JSON value already.
    public mutating func raw(_ value: [UInt8]) {
        separate()
        bytes.append(contentsOf: value)
    }

    public mutating func value(_ value: JSON) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let value): number(value)
        case .string(let value): string(value)
        case .array(let items):
            beginArray()
            for item in items { self.value(item) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object {
                key(member.key)
                self.value(member.value)
            }
            endObject()
        }
    }

    private mutating func begin(_ byte: UInt8) {
        separate()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func end(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(Ascii.comma) }
        needsComma = true
    }

    private mutating func literal(_ word: StaticString) {
        separate()
        word.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func quoted(_ body: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(Ascii.quote)
        body(&bytes)
        bytes.append(Ascii.quote)
    }
}

// Members of an object; one whose value is nil is left out.
extension JSONWriter {
    public mutating func field(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    public mutating func field(_ name: StaticString, plain value: StaticString) {
        key(name)
        string(value)
    }

    public mutating func field(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    public mutating func field(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    public mutating func field(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bool(value)
    }

    public mutating func field(_ name: StaticString, _ value: UUID?) {
        guard let value else { return }
        key(name)
        uuid(value)
    }

    public mutating func field(_ name: StaticString, _ value: Instant?) {
        guard let value else { return }
        key(name)
        instant(value)
    }
}

// Escapes (RFC 8259 §7): only what must be.
extension JSONWriter {
    private mutating func appendEscaped(_ text: String) {
        let span = text.utf8.span
        guard let first = span.nextJSONSpecial(from: 0) else {
            bytes.append(contentsOf: text.utf8)
            return
        }
        for index in 0..<first { bytes.append(span[index]) }
        for index in first..<span.count {
            let byte = span[index]
            if byte.isJSONSpecial {
                appendEscape(byte)
            } else {
                bytes.append(byte)
            }
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        bytes.append(Ascii.backslash)
        switch byte {
        case Ascii.quote, Ascii.backslash: bytes.append(byte)
        case Ascii.backspace: bytes.append(UInt8(ascii: "b"))
        case Ascii.tab: bytes.append(UInt8(ascii: "t"))
        case Ascii.lineFeed: bytes.append(UInt8(ascii: "n"))
        case Ascii.formFeed: bytes.append(UInt8(ascii: "f"))
        case Ascii.carriageReturn: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: [UInt8(ascii: "u"), Ascii.zero, Ascii.zero])
            bytes.append(Hex.digit(for: byte >> 4))
            bytes.append(Hex.digit(for: byte))
        }
    }
}
