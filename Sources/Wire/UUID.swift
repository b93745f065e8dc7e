/// A universally unique identifier (RFC 9562), ordered as its sixteen bytes are.
public struct UUID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads sixteen bytes, most significant first; nil for any other length.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            halves.0 = halves.0 << 8 | UInt64(bytes[index])
            halves.1 = halves.1 << 8 | UInt64(bytes[index + 8])
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// Reads 8-4-4-4-12 hexadecimal digits in either case; braces, `urn:uuid:` and missing hyphens are refused.
    public init?(_ text: String) {
        let span = text.utf8.span
        guard span.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            if Self.isHyphen(at: index) {
                guard span[index] == Ascii.minus else { return nil }
                continue
            }
            guard let digit = Hex.value(of: span[index]) else { return nil }
            if index < 18 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The version 7 identifier of a moment, so that identifiers sort by the time they were made.
    ///
    /// Of the time (milliseconds since 1970) 48 bits are kept, clamped into 0...2^48-1; 74 bits come from the entropy.
    public static func v7(milliseconds: Int64, entropy: (UInt64, UInt64)) -> UUID {
        let time = UInt64(min(max(milliseconds, 0), (1 << 48) - 1))
        return UUID(
            high: time << 16 | 0x7000 | entropy.0 & 0x0FFF,
            low: 0x8000_0000_0000_0000 | entropy.1 & 0x3FFF_FFFF_FFFF_FFFF
        )
    }

    /// The sixteen bytes, most significant first.
    public var bytes: [UInt8] {
        (0..<16).map { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index & 7)))
        }
    }

    static func isHyphen(at index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }

    /// Appends the 36 lower-case characters.
    func write(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
            let count = write(into: buffer)
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }

    /// Fills the buffer, which holds at least 36 bytes, and answers how many were written.
    private func write(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var at = 0
        for byte in 0..<16 {
            if byte == 4 || byte == 6 || byte == 8 || byte == 10 {
                buffer.initializeElement(at: at, to: Ascii.minus)
                at += 1
            }
            let half = byte < 8 ? high : low
            let value = UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (byte & 7)))
            buffer.initializeElement(at: at, to: Hex.digit(for: value >> 4))
            buffer.initializeElement(at: at + 1, to: Hex.digit(for: value))
            at += 2
        }
        return at
    }
}

extension UUID: Comparable {
    public static func < (left: UUID, right: UUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension UUID: CustomStringConvertible {
    /// The text in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { write(into: $0) }
    }
}
