public import Wire

/// What an array can be made of, so that Swift's `Array` has one rule for both PostgreSQL arrays and `bytea`.
public protocol SQLElement: Sendable {
    /// The type of an array of these.
    static var sqlArrayType: UInt32 { get }

    static func encode(array: [Self], into buffer: inout [UInt8])
    static func decode(array cell: SQLCell) -> [Self]?
}

extension Array: SQLValue where Element: SQLElement {
    public static var sqlType: UInt32 { Element.sqlArrayType }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        Element.encode(array: self, into: &buffer)
        return true
    }
}

extension Array: SQLDecodable where Element: SQLElement {
    public static func decode(_ cell: SQLCell) -> [Element]? { Element.decode(array: cell) }
}

extension UInt8: SQLElement {
    public static var sqlArrayType: UInt32 { TypeID.bytea }

    public static func encode(array: [UInt8], into buffer: inout [UInt8]) {
        buffer.append(contentsOf: array)
    }

    public static func decode(array cell: SQLCell) -> [UInt8]? {
        guard cell.type == TypeID.bytea, let bytes = cell.bytes else { return nil }
        return [UInt8](bytes)
    }
}

extension Bool: SQLElement { public static var sqlArrayType: UInt32 { TypeID.boolArray } }
extension Int: SQLElement { public static var sqlArrayType: UInt32 { TypeID.int8Array } }
extension Int64: SQLElement { public static var sqlArrayType: UInt32 { TypeID.int8Array } }
extension Int32: SQLElement { public static var sqlArrayType: UInt32 { TypeID.int4Array } }
extension Double: SQLElement { public static var sqlArrayType: UInt32 { TypeID.float8Array } }
extension String: SQLElement { public static var sqlArrayType: UInt32 { TypeID.textArray } }
extension UUID: SQLElement { public static var sqlArrayType: UInt32 { TypeID.uuidArray } }
extension Instant: SQLElement { public static var sqlArrayType: UInt32 { TypeID.timestamptzArray } }
extension JSONBytes: SQLElement { public static var sqlArrayType: UInt32 { TypeID.jsonbArray } }
extension Array: SQLElement where Element == UInt8 {
    public static var sqlArrayType: UInt32 { TypeID.byteaArray }
}
extension Optional: SQLElement where Wrapped: SQLElement & SQLValue & SQLDecodable {
    public static var sqlArrayType: UInt32 { Wrapped.sqlArrayType }
}

extension SQLElement where Self: RawRepresentable, RawValue: SQLElement {
    public static var sqlArrayType: UInt32 { RawValue.sqlArrayType }
}

extension SQLElement where Self: SQLValue & SQLDecodable {
    public static func encode(array: [Self], into buffer: inout [UInt8]) {
        buffer.appendBigEndian(Int32(array.isEmpty ? 0 : 1))
        let flags = buffer.count
        buffer.appendBigEndian(Int32(0))
        buffer.appendBigEndian(sqlType)
        guard !array.isEmpty else { return }
        buffer.appendBigEndian(Int32(clamping: array.count))
        buffer.appendBigEndian(Int32(1))
        for element in array {
            let length = buffer.count
            buffer.appendBigEndian(Int32(-1))
            guard element.encode(into: &buffer) else {
                buffer[flags + 3] = 1  // the array holds a NULL
                continue
            }
            buffer.setBigEndian(Int32(clamping: buffer.count - length - 4), at: length)
        }
    }

    public static func decode(array cell: SQLCell) -> [Self]? {
        guard let bytes = cell.bytes, TypeID.arrays.contains(cell.type) else { return nil }
        var reader = ArrayReader(bytes)
        guard let dimensions = reader.int32(), reader.int32() != nil, let type = reader.int32() else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = reader.int32(), reader.int32() != nil else { return nil }
        var array: [Self] = []
        // A count is believed only as far as the bytes can hold it.
        array.reserveCapacity(min(Int(max(count, 0)), bytes.count / 4))
        for _ in 0..<max(count, 0) {
            guard let element = reader.element(), let value = decode(element, as: type) else { return nil }
            array.append(value)
        }
        return array
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer?, as type: Int32) -> Self? {
        decode(SQLCell(bytes: bytes, type: UInt32(bitPattern: type)))
    }
}

/// Reads the parts of a binary array; nil as soon as the bytes end.
private struct ArrayReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func int32() -> Int32? {
        guard bytes.count - offset >= 4 else { return nil }
        defer { offset += 4 }
        return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }

    /// The next element: nil at the end of the bytes, an inner nil for NULL.
    mutating func element() -> UnsafeRawBufferPointer?? {
        guard let length = int32() else { return nil }
        guard length >= 0 else { return .some(nil) }
        guard bytes.count - offset >= Int(length) else { return nil }
        defer { offset += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(length)])
    }
}

extension [UInt8] {
    fileprivate mutating func setBigEndian(_ value: Int32, at offset: Int) {
        let bits = UInt32(bitPattern: value)
        for index in 0..<4 {
            self[offset + index] = UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * index))
        }
    }
}
