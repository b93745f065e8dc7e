/// A statement: text fixed at compile time and the values bound to it.
///
/// Literal parts are `StaticString`, so a run-time `String` cannot become text: `"… WHERE name = \(name)"` binds it.
/// Values are encoded as they are interpolated, into one buffer that libpq reads in place.
public struct SQL: Sendable {
    /// A bound value: its type, where `$n` stands in the text, and where its bytes are (length -1 is NULL).
    struct Bind: Sendable {
        let type: UInt32
        let position: Int
        let offset: Int
        let length: Int32
    }

    private(set) var bytes: [UInt8] = []
    // Never empty once something is bound: libpq takes a null pointer for NULL, even when the length is zero.
    private(set) var values: [UInt8] = []
    private(set) var binds: [Bind] = []

    /// The statement as the server sees it; for tests and messages.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public var bindCount: Int { binds.count }

    private init(capacity: Int, binds count: Int) {
        bytes.reserveCapacity(capacity + count * 3)
        guard count > 0 else { return }
        binds.reserveCapacity(count)
        values.reserveCapacity(count * 16 + 1)
    }

    private mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func bind(_ value: borrowing some SQLValue, as type: UInt32) {
        if values.isEmpty { values.append(0) }
        let offset = values.count
        let isPresent = value.encode(into: &values)
        let length = isPresent ? Int32(clamping: values.count - offset) : -1
        mark(Bind(type: type, position: bytes.count, offset: offset, length: length))
    }

    private mutating func mark(_ bind: Bind) {
        binds.append(bind)
        bytes.append(UInt8(ascii: "$"))
        appendDecimal(binds.count)
    }

    private mutating func appendDecimal(_ number: Int) {
        if number >= 10 { appendDecimal(number / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public init(stringLiteral value: StaticString) {
        self.init(capacity: value.utf8CodeUnitCount, binds: 0)
        append(value)
    }

    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql: SQL

        public init(literalCapacity: Int, interpolationCount: Int) {
            sql = SQL(capacity: literalCapacity, binds: interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            sql.append(literal)
        }

        public mutating func appendInterpolation<Value: SQLValue>(_ value: borrowing Value) {
            sql.bind(value, as: Value.sqlType)
        }

        // Without this twin the compiler takes an optional value for a slip and warns.
        public mutating func appendInterpolation<Value: SQLValue>(_ value: borrowing Value?) {
            sql.bind(value, as: Value.sqlType)
        }

        /// Inserts another statement part together with its values.
        public mutating func appendInterpolation(_ part: SQL) {
            sql += part
        }
    }
}

extension SQL {
    /// Joins two parts; the values of the second are numbered after those of the first.
    public static func + (left: SQL, right: SQL) -> SQL {
        var joined = left
        joined += right
        return joined
    }

    public static func += (left: inout SQL, right: SQL) {
        guard !right.binds.isEmpty else { return left.bytes.append(contentsOf: right.bytes) }
        let base = left.values.count
        left.values.append(contentsOf: right.values)
        var copied = 0
        for (index, bind) in right.binds.enumerated() {
            left.bytes.append(contentsOf: right.bytes[copied..<bind.position])
            copied = bind.position + 1 + decimalLength(index + 1)
            left.mark(
                Bind(
                    type: bind.type, position: left.bytes.count, offset: base + bind.offset, length: bind.length))
        }
        left.bytes.append(contentsOf: right.bytes[copied...])
    }

    private static func decimalLength(_ number: Int) -> Int {
        number < 10 ? 1 : 1 + decimalLength(number / 10)
    }
}
