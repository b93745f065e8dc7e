/// Percent coding of URLs (RFC 3986 §2.1), of UTF-8 text.
public enum PercentCoding {
    /// Nil for a `%` without two digits, for U+0000 and for bytes that are not UTF-8.
    public static func decode(_ text: String, plusIsSpace: Bool = false) -> String? {
        decode(bytes: text.utf8, plusIsSpace: plusIsSpace)
    }

    /// The text with everything but unreserved characters (letters, digits, `-._~`) escaped.
    public static func encode(_ text: String) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
                output.append(byte)
            } else {
                escape(byte, into: &output)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func decode(bytes: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case 0:
                return nil
            case Ascii.percent:
                guard let high = iterator.next().flatMap(Hex.value(of:)),
                    let low = iterator.next().flatMap(Hex.value(of:)), high | low != 0
                else { return nil }
                output.append(high << 4 | low)
            case Ascii.plus where plusIsSpace:
                output.append(Ascii.space)
            default:
                output.append(byte)
            }
        }
        return String(validating: output, as: UTF8.self)
    }

    static func escape(_ byte: UInt8, into output: inout [UInt8]) {
        output.append(Ascii.percent)
        output.append(Hex.upperDigit(for: byte >> 4))
        output.append(Hex.upperDigit(for: byte))
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte.isDigit || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}
