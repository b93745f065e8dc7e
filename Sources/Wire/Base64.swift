/// Base64 with padding (RFC 4648 §4), read strictly: one text for every sequence of bytes.
public enum Base64 {
    private static let coding = Base64Coding(
        symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        isPadded: true
    )

    public static func encode(_ bytes: [UInt8]) -> String { coding.encode(bytes) }

    /// Nil for missing or superfluous padding, stray characters (also white space) and set bits after the last byte.
    public static func decode(_ text: String) -> [UInt8]? { coding.decode(text) }

    /// Appends the text of the bytes.
    static func write(_ bytes: [UInt8], to output: inout [UInt8]) {
        output += [UInt8](unsafeUninitializedCapacity: coding.length(for: bytes.count)) { buffer, count in
            count = coding.encode(bytes, into: buffer)
        }
    }
}

/// Base64 for URLs without padding (RFC 4648 §5), read as strictly; padding is refused.
public enum Base64URL {
    private static let coding = Base64Coding(
        symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        isPadded: false
    )

    public static func encode(_ bytes: [UInt8]) -> String { coding.encode(bytes) }

    /// Nil for padding, stray characters, impossible lengths and set bits after the last byte.
    public static func decode(_ text: String) -> [UInt8]? { coding.decode(text) }
}

private struct Base64Coding: Sendable {
    private let symbols: [UInt8]
    /// The six bits of every byte that is a symbol; `stranger` for all others.
    private let values: [UInt8]
    private let isPadded: Bool

    private static let stranger: UInt8 = 0xFF

    init(symbols: String, isPadded: Bool) {
        var values = [UInt8](repeating: Self.stranger, count: 256)
        for (value, symbol) in symbols.utf8.enumerated() { values[Int(symbol)] = UInt8(value) }
        self.symbols = Array(symbols.utf8)
        self.values = values
        self.isPadded = isPadded
    }

    func length(for count: Int) -> Int {
        isPadded ? (count + 2) / 3 * 4 : (count * 4 + 2) / 3
    }

    func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: length(for: bytes.count)) { encode(bytes, into: $0) }
    }

    /// Fills the buffer, which holds at least `length(for:)` bytes, and answers how many were written.
    func encode(_ bytes: [UInt8], into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let input = bytes.span
        let symbols = symbols.span
        var offset = 0
        var written = 0
        while offset + 3 <= input.count {
            let group = UInt32(input[offset]) << 16 | UInt32(input[offset + 1]) << 8 | UInt32(input[offset + 2])
            buffer[written] = symbols[Int(group >> 18)]
            buffer[written + 1] = symbols[Int(group >> 12 & 63)]
            buffer[written + 2] = symbols[Int(group >> 6 & 63)]
            buffer[written + 3] = symbols[Int(group & 63)]
            offset += 3
            written += 4
        }
        let rest = input.count - offset
        guard rest > 0 else { return written }
        let group = UInt32(input[offset]) << 16 | (rest == 2 ? UInt32(input[offset + 1]) << 8 : 0)
        buffer[written] = symbols[Int(group >> 18)]
        buffer[written + 1] = symbols[Int(group >> 12 & 63)]
        written += 2
        if rest == 2 {
            buffer[written] = symbols[Int(group >> 6 & 63)]
            written += 1
        }
        guard isPadded else { return written }
        for _ in rest..<3 {
            buffer[written] = Ascii.equals
            written += 1
        }
        return written
    }

    func decode(_ text: String) -> [UInt8]? {
        let input = text.utf8.span
        guard let symbolCount = symbolCount(of: input) else { return nil }
        let values = values.span
        var faults: UInt8 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: symbolCount * 3 / 4) { buffer, count in
            var offset = 0
            while offset + 4 <= symbolCount {
                let first = values[Int(input[offset])]
                let second = values[Int(input[offset + 1])]
                let third = values[Int(input[offset + 2])]
                let fourth = values[Int(input[offset + 3])]
                // A stranger is the only value with its top bit set; one test after the loop finds it.
                faults |= first | second | third | fourth
                buffer[count] = first << 2 | second >> 4
                buffer[count + 1] = second << 4 | third >> 2
                buffer[count + 2] = third << 6 | fourth
                offset += 4
                count += 3
            }
            guard offset < symbolCount else { return }
            let first = values[Int(input[offset])]
            let second = values[Int(input[offset + 1])]
            let third = offset + 2 < symbolCount ? values[Int(input[offset + 2])] : 0
            let leftOver = offset + 2 < symbolCount ? third & 0x03 : second & 0x0F
            faults |= first | second | third | (leftOver == 0 ? 0 : 0x80)
            buffer[count] = first << 2 | second >> 4
            count += 1
            guard offset + 2 < symbolCount else { return }
            buffer[count] = second << 4 | third >> 2
            count += 1
        }
        return faults & 0x80 == 0 ? bytes : nil
    }

    /// How many bytes carry data; nil when the length or the padding cannot be right.
    private func symbolCount(of input: borrowing Span<UInt8>) -> Int? {
        var count = input.count
        if isPadded {
            guard count.isMultiple(of: 4) else { return nil }
            if count > 0, input[count - 1] == Ascii.equals { count -= 1 }
            if count > 0, count % 4 == 3, input[count - 1] == Ascii.equals { count -= 1 }
        }
        return count % 4 == 1 ? nil : count
    }
}
