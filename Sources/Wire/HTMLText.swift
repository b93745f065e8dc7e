/// Text made safe inside HTML elements and double-quoted attributes.
public enum HTMLText {
    /// The text with `& < > " '` as character references.
    ///
    /// Not for script, style, URLs or unquoted attributes, where other characters have a meaning.
    public static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: { reference(for: $0) != nil }) else { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if let reference = reference(for: byte) {
                output += reference.utf8
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func reference(for byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case Ascii.quote: "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}
