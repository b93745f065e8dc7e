/// Names and values as `application/x-www-form-urlencoded`, in bodies and in query strings (WHATWG URL §5).
public enum FormCoding {
    /// More pairs than any request of ours has a use for.
    public static let maximumPairs = 256

    /// The pairs in order, with names that repeat left to the caller; a name without `=` has an empty value.
    ///
    /// Nil for a bad escape, U+0000, bytes that are not UTF-8, or more than `maximumPairs`.
    public static func decode(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        // One split more than may be filled, so that a long tail is refused without being looked through.
        for part in bytes.split(separator: Ascii.ampersand, maxSplits: maximumPairs) {
            guard pairs.count < maximumPairs else { return nil }
            let equals = part.firstIndex(of: Ascii.equals) ?? part.endIndex
            guard let name = PercentCoding.decode(bytes: part[..<equals], plusIsSpace: true),
                let value = PercentCoding.decode(bytes: part[equals...].dropFirst(), plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    public static func encode(_ pairs: [(String, String)]) -> String {
        var output: [UInt8] = []
        for (name, value) in pairs {
            if !output.isEmpty { output.append(Ascii.ampersand) }
            write(name, to: &output)
            output.append(Ascii.equals)
            write(value, to: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            if byte == Ascii.space {
                output.append(Ascii.plus)
            } else if PercentCoding.isLetterOrDigit(byte) || "*-._".utf8.contains(byte) {
                output.append(byte)
            } else {
                PercentCoding.escape(byte, into: &output)
            }
        }
    }
}
