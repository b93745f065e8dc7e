package import Domain
package import Postgres
import Wire

// The product's identifiers as PostgreSQL values.

extension ID: SQLValue, SQLDecodable, SQLElement {
    package static var sqlType: UInt32 { UUID.sqlType }
    package static var sqlArrayType: UInt32 { UUID.sqlArrayType }

    package func encode(into buffer: inout [UInt8]) -> Bool { uuid.encode(into: &buffer) }

    package static func decode(_ cell: SQLCell) -> ID? { UUID.decode(cell).map { ID($0) } }
}

extension AppID: SQLValue, SQLDecodable, SQLElement {
    package static var sqlType: UInt32 { String.sqlType }
    package static var sqlArrayType: UInt32 { String.sqlArrayType }

    package func encode(into buffer: inout [UInt8]) -> Bool { text.encode(into: &buffer) }

    package static func decode(_ cell: SQLCell) -> AppID? { String.decode(cell).map { AppID(stored: $0) } }
}
