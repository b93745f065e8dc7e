public import Wire

/// A value that can be bound to a statement, in PostgreSQL's binary format.
public protocol SQLValue: Sendable {
    /// The object identifier of the PostgreSQL type.
    static var sqlType: UInt32 { get }

    /// Appends the binary form; false when the value is NULL, and then nothing is appended.
    func encode(into buffer: inout [UInt8]) -> Bool
}

/// Object identifiers of the types that this room reads and writes.
enum TypeID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let json: UInt32 = 114
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    /// Every array whose elements this room reads: those below, and of name, int2, oid, float4, bpchar, varchar, json.
    static let arrays: Set<UInt32> = [
        boolArray, byteaArray, int4Array, textArray, int8Array, float8Array, timestamptzArray, uuidArray, jsonbArray,
        1003, 1005, 1028, 1021, 1014, 1015, 199,
    ]

    static let boolArray: UInt32 = 1000
    static let byteaArray: UInt32 = 1001
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let float8Array: UInt32 = 1022
    static let timestamptzArray: UInt32 = 1185
    static let uuidArray: UInt32 = 2951
    static let jsonbArray: UInt32 = 3807
}

/// The bytes of a JSON text, bound as `jsonb`.
public struct JSONBytes: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension Bool: SQLValue {
    public static var sqlType: UInt32 { TypeID.bool }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(self ? 1 : 0)
        return true
    }
}

extension Int: SQLValue {
    public static var sqlType: UInt32 { TypeID.int8 }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.appendBigEndian(UInt64(bitPattern: Int64(self)))
        return true
    }
}

extension Int64: SQLValue {
    public static var sqlType: UInt32 { TypeID.int8 }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.appendBigEndian(UInt64(bitPattern: self))
        return true
    }
}

extension Int32: SQLValue {
    public static var sqlType: UInt32 { TypeID.int4 }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.appendBigEndian(UInt32(bitPattern: self))
        return true
    }
}

extension Double: SQLValue {
    public static var sqlType: UInt32 { TypeID.float8 }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.appendBigEndian(bitPattern)
        return true
    }
}

extension String: SQLValue {
    public static var sqlType: UInt32 { TypeID.text }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(contentsOf: utf8)
        return true
    }
}

extension UUID: SQLValue {
    public static var sqlType: UInt32 { TypeID.uuid }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.appendBigEndian(high)
        buffer.appendBigEndian(low)
        return true
    }
}

extension Instant: SQLValue {
    public static var sqlType: UInt32 { TypeID.timestamptz }

    /// Microseconds between 1970 and PostgreSQL's epoch, 2000.
    static let epoch: Int64 = 946_684_800_000_000

    public func encode(into buffer: inout [UInt8]) -> Bool {
        let (value, overflow) = microseconds.subtractingReportingOverflow(Instant.epoch)
        // The least integer would mean "-infinity"; its neighbour is refused by the server as out of range.
        let sent = overflow || value == .min ? Int64.min + 1 : value
        buffer.appendBigEndian(UInt64(bitPattern: sent))
        return true
    }
}

extension JSONBytes: SQLValue {
    public static var sqlType: UInt32 { TypeID.jsonb }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(1)  // the version of jsonb's binary form
        buffer.append(contentsOf: bytes)
        return true
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    public static var sqlType: UInt32 { Wrapped.sqlType }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        guard let value = self else { return false }
        return value.encode(into: &buffer)
    }
}

/// A type with a raw value is bound as that; declaring the conformance is enough.
extension SQLValue where Self: RawRepresentable, RawValue: SQLValue {
    public static var sqlType: UInt32 { RawValue.sqlType }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        rawValue.encode(into: &buffer)
    }
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
