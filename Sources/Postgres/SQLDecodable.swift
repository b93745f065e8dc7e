public import Wire

/// One column of one row: its bytes (nil is NULL) and the object identifier of its type.
public struct SQLCell {
    public let bytes: UnsafeRawBufferPointer?
    public let type: UInt32
}

/// A value that can be read from a column.
public protocol SQLDecodable {
    /// The value, or nil when the cell is NULL or of a type that this one does not read.
    static func decode(_ cell: SQLCell) -> Self?
}

extension SQLCell {
    fileprivate func bigEndian<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard let bytes, bytes.count == MemoryLayout<Value>.size else { return nil }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    fileprivate var integer: Int64? {
        switch type {
        case TypeID.int8: bigEndian(Int64.self)
        case TypeID.int4: bigEndian(Int32.self).map(Int64.init)
        case TypeID.int2: bigEndian(Int16.self).map(Int64.init)
        case TypeID.oid: bigEndian(UInt32.self).map(Int64.init)
        default: nil
        }
    }
}

extension Bool: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Bool? {
        guard cell.type == TypeID.bool, let byte = cell.bigEndian(UInt8.self) else { return nil }
        return byte != 0
    }
}

extension Int: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Int? { cell.integer.map { Int($0) } }
}

extension Int64: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Int64? { cell.integer }
}

extension Int32: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Int32? {
        guard cell.type == TypeID.int4 || cell.type == TypeID.int2 else { return nil }
        return cell.integer.map { Int32(truncatingIfNeeded: $0) }
    }
}

extension Double: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Double? {
        switch cell.type {
        case TypeID.float8: cell.bigEndian(UInt64.self).map(Double.init(bitPattern:))
        case TypeID.float4: cell.bigEndian(UInt32.self).map { Double(Float(bitPattern: $0)) }
        default: nil
        }
    }
}

extension String: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> String? {
        switch cell.type {
        case TypeID.text, TypeID.varchar, TypeID.bpchar, TypeID.name:
            // A database with encoding SQL_ASCII can hold anything.
            cell.bytes.flatMap { String(validating: $0, as: UTF8.self) }
        default: nil
        }
    }
}

extension UUID: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> UUID? {
        guard cell.type == TypeID.uuid, let bytes = cell.bytes, bytes.count == 16 else { return nil }
        return UUID(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension Instant: SQLDecodable {
    /// Nil for PostgreSQL's infinities, which are no instants.
    public static func decode(_ cell: SQLCell) -> Instant? {
        guard cell.type == TypeID.timestamptz, let value = cell.bigEndian(Int64.self), value != .min else { return nil }
        let (microseconds, overflow) = value.addingReportingOverflow(epoch)
        return overflow ? nil : Instant(microseconds: microseconds)
    }
}

extension JSONBytes: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> JSONBytes? {
        guard let bytes = cell.bytes else { return nil }
        switch cell.type {
        case TypeID.jsonb where bytes.first == 1: return JSONBytes([UInt8](bytes.dropFirst()))
        case TypeID.json: return JSONBytes([UInt8](bytes))
        default: return nil
        }
    }
}

extension Optional: SQLDecodable where Wrapped: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Wrapped?? {
        guard cell.bytes != nil else { return .some(nil) }
        guard let value = Wrapped.decode(cell) else { return nil }
        return value
    }
}

/// A type with a raw value is read as that; a raw value that the type does not know is a decoding error.
extension SQLDecodable where Self: RawRepresentable, RawValue: SQLDecodable {
    public static func decode(_ cell: SQLCell) -> Self? {
        RawValue.decode(cell).flatMap(Self.init(rawValue:))
    }
}
