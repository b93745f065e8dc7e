/// Kinds of bytes in names and addresses.
enum Ascii {
    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLower(byte) || isUpper(byte) }

    static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

    static func isUsernameByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || isOne(byte, of: "._-") }

    static func isOne(_ byte: UInt8, of bytes: StaticString) -> Bool {
        bytes.withUTF8Buffer { $0.contains(byte) }
    }
}
