public import Domain
public import Postgres
import Wire

// The product's identifiers as PostgreSQL values.

extension ID: SQLValue, SQLDecodable, SQLElement {
    public static var sqlType: UInt32 { UUID.sqlType }
    public static var sqlArrayType: UInt32 { UUID.sqlArrayType }

    public func encode(into buffer: inout [UInt8]) -> Bool { uuid.encode(into: &buffer) }

    public static func decode(_ cell: SQLCell) -> ID? { UUID.decode(cell).map { ID($0) } }
}

extension AppID: SQLValue, SQLDecodable, SQLElement {
    public static var sqlType: UInt32 { String.sqlType }
    public static var sqlArrayType: UInt32 { String.sqlArrayType }

    public func encode(into buffer: inout [UInt8]) -> Bool { text.encode(into: &buffer) }

    public static func decode(_ cell: SQLCell) -> AppID? { String.decode(cell).map { AppID(stored: $0) } }
}
