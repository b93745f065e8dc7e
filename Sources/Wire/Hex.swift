/// Hexadecimal text: written in lower case, read in either (RFC 4648 §8).
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var offset = 0
            for byte in bytes {
                buffer[offset] = digit(for: byte >> 4)
                buffer[offset + 1] = digit(for: byte)
                offset += 2
            }
            return offset
        }
    }

    /// The bytes of an even number of digits; nil for an odd number or anything that is not a digit.
    public static func decode(_ text: String) -> [UInt8]? {
        let span = text.utf8.span
        guard span.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(span.count / 2)
        var offset = 0
        while offset < span.count {
            guard let high = value(of: span[offset]), let low = value(of: span[offset + 1]) else { return nil }
            bytes.append(high << 4 | low)
            offset += 2
        }
        return bytes
    }

    /// The lower-case digit of the low four bits.
    static func digit(for value: UInt8) -> UInt8 {
        let nibble = value & 0x0F
        return nibble < 10 ? Ascii.zero + nibble : UInt8(ascii: "a") + nibble - 10
    }

    /// The upper-case digit of the low four bits.
    static func upperDigit(for value: UInt8) -> UInt8 {
        let nibble = value & 0x0F
        return nibble < 10 ? Ascii.zero + nibble : UInt8(ascii: "A") + nibble - 10
    }

    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
