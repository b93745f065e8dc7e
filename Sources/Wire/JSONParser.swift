extension JSON {
    /// Where and why bytes are not the JSON this server takes.
    public struct Fault: Error, Sendable, CustomStringConvertible {
        /// The byte at which reading stopped.
        public let offset: Int
        public let reason: StaticString

        public var description: String { "\(reason) at byte \(offset)" }
    }

    /// Reads one value that fills all of the bytes (RFC 8259), white space around it allowed.
    ///
    /// Beyond the grammar it refuses what programs disagree about or PostgreSQL cannot hold: a byte order mark, invalid
    /// UTF-8, lone surrogates, U+0000 in a string, the same key twice, arrays and objects nested deeper than
    /// `maximumDepth`, numbers longer than 40 characters or outside what a double can come near to.
    public static func parse(_ bytes: [UInt8], maximumDepth: Int = 32) throws(Fault) -> JSON {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw Fault(offset: error.byteOffsets.lowerBound, reason: "invalid UTF-8")
        }
        var parser = JSONParser(bytes: bytes)
        return try parser.document(maximumDepth: maximumDepth)
    }
}

/// One pass over bytes that are known to be UTF-8.
private struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0

    private static let longestNumber = 40

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document(maximumDepth: Int) throws(JSON.Fault) -> JSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw fault("byte order mark") }
        skipSpace()
        let value = try value(depthLeft: maximumDepth)
        skipSpace()
        guard offset == bytes.count else { throw fault("more bytes after the value") }
        return value
    }

    private mutating func value(depthLeft: Int) throws(JSON.Fault) -> JSON {
        guard let byte = peek else { throw fault("a value is missing") }
        switch byte {
        case Ascii.openBrace:
            return .object(try object(depthLeft: depthLeft))
        case Ascii.openBracket:
            return .array(try array(depthLeft: depthLeft))
        case Ascii.quote:
            return .string(try string())
        case Ascii.minus, Ascii.zero...UInt8(ascii: "9"):
            return .number(try number())
        case UInt8(ascii: "t"):
            try word("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        default:
            throw fault("not a value")
        }
    }

    private mutating func object(depthLeft: Int) throws(JSON.Fault) -> JSON.Object {
        guard depthLeft > 0 else { throw fault("nested too deeply") }
        offset += 1
        var object = JSON.Object()
        skipSpace()
        if take(Ascii.closeBrace) { return object }
        while true {
            guard peek == Ascii.quote else { throw fault("a key is missing") }
            let keyOffset = offset
            let key = try string()
            skipSpace()
            guard take(Ascii.colon) else { throw fault("a colon is missing") }
            skipSpace()
            let value = try value(depthLeft: depthLeft - 1)
            guard object.insert(key, value) else {
                throw JSON.Fault(offset: keyOffset, reason: "the same key twice")
            }
            skipSpace()
            if take(Ascii.closeBrace) { return object }
            guard take(Ascii.comma) else { throw fault("a comma or closing brace is missing") }
            skipSpace()
        }
    }

    private mutating func array(depthLeft: Int) throws(JSON.Fault) -> [JSON] {
        guard depthLeft > 0 else { throw fault("nested too deeply") }
        offset += 1
        var items: [JSON] = []
        skipSpace()
        if take(Ascii.closeBracket) { return items }
        while true {
            items.append(try value(depthLeft: depthLeft - 1))
            skipSpace()
            if take(Ascii.closeBracket) { return items }
            guard take(Ascii.comma) else { throw fault("a comma or closing bracket is missing") }
            skipSpace()
        }
    }

    private mutating func word(_ word: StaticString) throws(JSON.Fault) {
        let end = offset + word.utf8CodeUnitCount
        let isThere = word.withUTF8Buffer { end <= bytes.count && bytes[offset..<end].elementsEqual($0) }
        guard isThere else { throw fault("not a value") }
        offset = end
    }

    private mutating func skipSpace() {
        while let byte = peek {
            switch byte {
            case Ascii.space, Ascii.tab, Ascii.lineFeed, Ascii.carriageReturn: offset += 1
            default: return
            }
        }
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private func fault(_ reason: StaticString) -> JSON.Fault {
        JSON.Fault(offset: offset, reason: reason)
    }
}

// Numbers.
extension JSONParser {
    private mutating func number() throws(JSON.Fault) -> JSON.Number {
        let start = offset
        _ = take(Ascii.minus)
        if !take(Ascii.zero) { _ = try digits() }
        if let next = peek, next.isDigit { throw fault("a leading zero") }
        if take(Ascii.dot) { _ = try digits() }
        let exponentDigits = try exponent()
        guard offset - start <= Self.longestNumber else {
            throw JSON.Fault(offset: start, reason: "a number longer than 40 characters")
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        // PostgreSQL spells exponents out; unbounded ones would fail there, or fill its disk.
        guard exponentDigits <= 3, Self.isNearDouble(text) else {
            throw JSON.Fault(offset: start, reason: "a number out of range")
        }
        return JSON.Number(checked: text)
    }

    /// Reads at least one digit; how many there were.
    private mutating func digits() throws(JSON.Fault) -> Int {
        let start = offset
        while let byte = peek, byte.isDigit { offset += 1 }
        guard offset > start else { throw fault("a digit is missing") }
        return offset - start
    }

    /// Reads an exponent if there is one; how many digits it has, zero for none.
    private mutating func exponent() throws(JSON.Fault) -> Int {
        guard take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) else { return 0 }
        _ = take(Ascii.plus) || take(Ascii.minus)
        return try digits()
    }

    /// Whether a double holds more of it than infinity, or than zero for a number that is not.
    private static func isNearDouble(_ text: String) -> Bool {
        guard let value = Double(text), value.isFinite else { return false }
        if value != 0 { return true }
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        return mantissa.allSatisfy { $0 == Ascii.zero || $0 == Ascii.dot || $0 == Ascii.minus }
    }
}

// Strings.
extension JSONParser {
    private mutating func string() throws(JSON.Fault) -> String {
        offset += 1
        let start = offset
        skipPlain()
        if take(Ascii.quote) { return String(decoding: bytes[start..<(offset - 1)], as: UTF8.self) }
        var text = Array(bytes[start..<offset])
        while true {
            guard let byte = peek else { throw fault("the string does not end") }
            if byte < Ascii.space { throw fault("a control character in a string") }
            offset += 1
            if byte == Ascii.quote { return String(decoding: text, as: UTF8.self) }
            try escape(into: &text)
            let plain = offset
            skipPlain()
            text += bytes[plain..<offset]
        }
    }

    /// Moves to the next byte that has a meaning inside a string.
    private mutating func skipPlain() {
        offset = bytes.span.nextJSONSpecial(from: offset) ?? bytes.count
    }

    /// Reads what stands after a backslash.
    private mutating func escape(into text: inout [UInt8]) throws(JSON.Fault) {
        guard let byte = peek else { throw fault("the string does not end") }
        switch byte {
        case Ascii.quote, Ascii.backslash, UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(Ascii.backspace)
        case UInt8(ascii: "f"): text.append(Ascii.formFeed)
        case UInt8(ascii: "n"): text.append(Ascii.lineFeed)
        case UInt8(ascii: "r"): text.append(Ascii.carriageReturn)
        case UInt8(ascii: "t"): text.append(Ascii.tab)
        case UInt8(ascii: "u"):
            offset += 1
            let scalar = try scalar()
            text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            return
        default: throw fault("an unknown escape")
        }
        offset += 1
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair.
    private mutating func scalar() throws(JSON.Fault) -> Unicode.Scalar {
        let start = offset - 2
        let first = try codeUnit()
        if first == 0 { throw JSON.Fault(offset: start, reason: "U+0000 in a string") }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(Ascii.backslash), take(UInt8(ascii: "u")) else {
            throw JSON.Fault(offset: start, reason: "half a surrogate pair")
        }
        let second = try codeUnit()
        guard 0xDC00...0xDFFF ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSON.Fault(offset: start, reason: "half a surrogate pair") }
        return scalar
    }

    private mutating func codeUnit() throws(JSON.Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hex.value(of: byte) else {
                throw fault("four hexadecimal digits are missing")
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}
