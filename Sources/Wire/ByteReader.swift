/// Reads what `ByteWriter` wrote, from bytes that anyone may have made.
///
/// A refused read moves nothing.
public struct ByteReader: Sendable {
    public enum Fault: Error, Hashable, Sendable {
        /// The bytes end before the value does.
        case short
        /// A varint in more bytes than it needs, or beyond 64 bits.
        case badVarint
        /// More bytes follow where the end was expected.
        case leftOver
    }

    private let input: [UInt8]
    private var offset = 0

    public init(_ bytes: [UInt8]) {
        input = bytes
    }

    public var isAtEnd: Bool { offset == input.count }
    public var remaining: Int { input.count - offset }

    /// Refuses bytes after the last value.
    public func end() throws(Fault) {
        guard isAtEnd else { throw .leftOver }
    }

    public mutating func byte() throws(Fault) -> UInt8 { UInt8(try bigEndian(count: 1)) }
    public mutating func uint32() throws(Fault) -> UInt32 { UInt32(try bigEndian(count: 4)) }
    public mutating func uint64() throws(Fault) -> UInt64 { try bigEndian(count: 8) }

    public mutating func varint() throws(Fault) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard index < remaining else { throw .short }
            let byte = input[offset + index]
            // The tenth byte holds the 64th bit only; a last byte of zero adds nothing, so it is a second spelling.
            guard index < 9 || byte <= 1, index == 0 || byte != 0 else { throw .badVarint }
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            guard byte & 0x80 == 0 else { continue }
            offset += index + 1
            return value
        }
        throw .badVarint
    }

    public mutating func uuid() throws(Fault) -> UUID {
        guard remaining >= 16 else { throw .short }
        return UUID(high: try uint64(), low: try uint64())
    }

    /// Reads a length and as many bytes.
    public mutating func bytes() throws(Fault) -> [UInt8] {
        var ahead = self
        let count = try ahead.varint()
        guard count <= UInt64(ahead.remaining) else { throw .short }
        let value = try ahead.raw(Int(count))
        self = ahead
        return value
    }

    /// Reads a known number of bytes.
    public mutating func raw(_ count: Int) throws(Fault) -> [UInt8] {
        guard 0...remaining ~= count else { throw .short }
        defer { offset += count }
        return Array(input[offset..<(offset + count)])
    }

    private mutating func bigEndian(count: Int) throws(Fault) -> UInt64 {
        guard remaining >= count else { throw .short }
        defer { offset += count }
        return input[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
