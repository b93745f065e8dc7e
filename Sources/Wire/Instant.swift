/// A moment in UTC, to the microsecond, as PostgreSQL keeps it.
public struct Instant: Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public let microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Milliseconds since 1970, rounded towards the past.
    public var milliseconds: Int64 { floorDivide(microseconds, 1_000) }

    /// Seconds since 1970, rounded towards the past.
    public var seconds: Int64 { floorDivide(microseconds, 1_000_000) }

    /// The moment later by a duration; beyond what can be held, the last or first moment that can.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let change = duration.saturatedMicroseconds
        let (sum, overflow) = instant.microseconds.addingReportingOverflow(change)
        return Instant(microseconds: overflow ? (change < 0 ? .min : .max) : sum)
    }

    /// The moment earlier by a duration; beyond what can be held, the last or first moment that can.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        let change = duration.saturatedMicroseconds
        let (difference, overflow) = instant.microseconds.subtractingReportingOverflow(change)
        return Instant(microseconds: overflow ? (change < 0 ? .max : .min) : difference)
    }

    /// How much later this is than another moment; negative when it is earlier.
    public func duration(since other: Instant) -> Duration {
        .microseconds(microseconds) - .microseconds(other.microseconds)
    }
}

extension Instant: Comparable {
    public static func < (left: Instant, right: Instant) -> Bool { left.microseconds < right.microseconds }
}

extension Instant: CustomStringConvertible {
    public var description: String { rfc3339 }
}

// RFC 3339 text.
extension Instant {
    /// The moments that four-digit years can name: 0001 to 9999.
    static let writable: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

    /// The moment in UTC with three fraction digits, cut and not rounded; moments outside 0001–9999 as the nearest edge.
    public var rfc3339: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads any fraction and any offset, kept to the microsecond and turned into UTC.
    ///
    /// Refused: a leap second (:60), dates that do not exist, years outside 0001–9999 before or after turning.
    public init?(rfc3339 text: String) {
        let span = text.utf8.span
        guard span.count >= 20,
            let day = Self.day(in: span),
            let second = Self.secondOfDay(in: span),
            let (fraction, end) = Self.fraction(in: span, at: 19),
            let offset = Self.offset(in: span, at: end)
        else { return nil }
        let seconds = day.daysSinceEpoch * 86_400 + Int64(second - offset)
        let microseconds = seconds * 1_000_000 + fraction
        guard Self.writable.contains(microseconds) else { return nil }
        self.init(microseconds: microseconds)
    }

    /// The nearest moment that can be written.
    var bounded: Instant {
        Instant(microseconds: min(max(microseconds, Self.writable.lowerBound), Self.writable.upperBound))
    }

    /// Appends the 24 bytes of the text.
    func write(to bytes: inout [UInt8]) {
        let bounded = bounded.microseconds
        let seconds = floorDivide(bounded, 1_000_000)
        let days = floorDivide(seconds, 86_400)
        let date = CivilDay(daysSinceEpoch: days)
        let time = Int(seconds - days * 86_400)
        bytes.appendDecimal(date.year, digits: 4, then: "-")
        bytes.appendDecimal(date.month, digits: 2, then: "-")
        bytes.appendDecimal(date.day, digits: 2, then: "T")
        bytes.appendDecimal(time / 3_600, digits: 2, then: ":")
        bytes.appendDecimal(time / 60 % 60, digits: 2, then: ":")
        bytes.appendDecimal(time % 60, digits: 2, then: ".")
        bytes.appendDecimal(Int(bounded - seconds * 1_000_000) / 1_000, digits: 3, then: "Z")
    }

    private static func day(in span: borrowing Span<UInt8>) -> CivilDay? {
        guard span[4] == Ascii.minus, span[7] == Ascii.minus, span[10] | 0x20 == UInt8(ascii: "t"),
            let year = span.decimal(at: 0, count: 4),
            let month = span.decimal(at: 5, count: 2),
            let day = span.decimal(at: 8, count: 2)
        else { return nil }
        return CivilDay(year: year, month: month, day: day)
    }

    private static func secondOfDay(in span: borrowing Span<UInt8>) -> Int? {
        guard span[13] == Ascii.colon, span[16] == Ascii.colon,
            let hour = span.decimal(at: 11, count: 2), hour < 24,
            let minute = span.decimal(at: 14, count: 2), minute < 60,
            let second = span.decimal(at: 17, count: 2), second < 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    /// The microseconds of an optional fraction, and where it ends; nil for a dot without digits.
    private static func fraction(in span: borrowing Span<UInt8>, at start: Int) -> (Int64, Int)? {
        guard span[start] == Ascii.dot else { return (0, start) }
        var unit: Int64 = 100_000
        var microseconds: Int64 = 0
        var index = start + 1
        while index < span.count, span[index].isDigit {
            microseconds += Int64(span[index] - Ascii.zero) * unit
            unit /= 10
            index += 1
        }
        return index > start + 1 ? (microseconds, index) : nil
    }

    /// The seconds by which local time is ahead of UTC, written from `start` to the end of the text.
    private static func offset(in span: borrowing Span<UInt8>, at start: Int) -> Int? {
        guard start < span.count else { return nil }
        if span[start] | 0x20 == UInt8(ascii: "z") { return span.count == start + 1 ? 0 : nil }
        guard span.count == start + 6, span[start + 3] == Ascii.colon,
            let hours = span.decimal(at: start + 1, count: 2), hours < 24,
            let minutes = span.decimal(at: start + 4, count: 2), minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        switch span[start] {
        case Ascii.plus: return seconds
        case Ascii.minus: return -seconds
        default: return nil
        }
    }
}

extension Duration {
    /// Whole microseconds, cut towards zero; the nearest edge when 64 bits cannot hold them.
    fileprivate var saturatedMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}

extension [UInt8] {
    /// Appends a non-negative number with leading zeros, and the character after it.
    mutating func appendDecimal(_ value: Int, digits: Int, then separator: Unicode.Scalar) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            append(Ascii.zero + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
        append(UInt8(truncatingIfNeeded: separator.value))
    }
}
