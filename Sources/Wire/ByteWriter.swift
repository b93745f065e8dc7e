/// Writes the fixed binary shapes behind opaque cursors; `ByteReader` reads them back.
public struct ByteWriter: Sendable {
    private var output: [UInt8] = []

    public init(capacity: Int = 64) {
        output.reserveCapacity(capacity)
    }

    /// The bytes written.
    public consuming func finish() -> [UInt8] { output }

    public mutating func byte(_ value: UInt8) { output.append(value) }
    public mutating func uint32(_ value: UInt32) { bigEndian(UInt64(value), count: 4) }
    public mutating func uint64(_ value: UInt64) { bigEndian(value, count: 8) }

    /// Writes 1 to 10 bytes of seven bits each, the lowest first, with the top bit set on all but the last.
    public mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: rest))
    }

    public mutating func uuid(_ value: UUID) {
        uint64(value.high)
        uint64(value.low)
    }

    /// Writes the length as a varint, then the bytes.
    public mutating func bytes(_ value: [UInt8]) {
        varint(UInt64(value.count))
        output += value
    }

    /// Writes the length in UTF-8 as a varint, then the UTF-8.
    public mutating func text(_ value: String) {
        varint(UInt64(value.utf8.count))
        output += value.utf8
    }

    /// Writes bytes whose number the reader knows.
    public mutating func raw(_ value: [UInt8]) { output += value }

    private mutating func bigEndian(_ value: UInt64, count: Int) {
        for index in (0..<count).reversed() { output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }
}
