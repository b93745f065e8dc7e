import Wire

@testable import Postgres

extension FuzzTarget {
    static let binary = [
        FuzzTarget("byte-reader", longest: 256) { bytes in
            var reader = ByteReader(bytes)
            var writer = ByteWriter()
            while !reader.isAtEnd {
                let before = reader.remaining
                let isRead = copy(from: &reader, to: &writer, step: UInt8(truncatingIfNeeded: before))
                expect(isRead || reader.remaining == before, "a refused read moves nothing")
                guard isRead, reader.remaining < before else { break }
            }
            let read = bytes.count - reader.remaining
            expect(writer.finish() == Array(bytes.prefix(read)), "what was read has one spelling")
        },
        FuzzTarget("sql-cell", longest: 96) { bytes in
            var bytes = bytes
            let type = types[Int(bytes.takeByte()) % types.count]
            bytes.withUnsafeBytes { raw in
                let cell = SQLCell(bytes: raw, type: type)
                comesBack(Int64.self, cell, onlyOf: TypeID.int8)
                comesBack(Int.self, cell, onlyOf: TypeID.int8)
                comesBack(Int32.self, cell, onlyOf: TypeID.int4)
                comesBack(String.self, cell, onlyOf: TypeID.text)
                comesBack(UUID.self, cell, onlyOf: TypeID.uuid)
                comesBack(Instant.self, cell, onlyOf: TypeID.timestamptz)
                comesBack(JSONBytes.self, cell, onlyOf: TypeID.jsonb)
                comesBack([UInt8].self, cell, onlyOf: TypeID.bytea)
                comesBack(Double.self, cell, onlyOf: TypeID.float8)
                _ = Bool.decode(cell)
            }
        },
        FuzzTarget("sql-array", longest: 256) { bytes in
            var bytes = bytes
            let type = types[Int(bytes.takeByte()) % types.count]
            bytes.withUnsafeBytes { raw in
                let cell = SQLCell(bytes: raw, type: type)
                arrayComesBack(Int64.self, cell)
                arrayComesBack(String.self, cell)
                arrayComesBack(UUID.self, cell)
                arrayComesBack(Instant.self, cell)
                arrayComesBack([UInt8].self, cell)
                arrayComesBack(Bool.self, cell)
                arrayComesBack(Int64?.self, cell)
                arrayComesBack(String?.self, cell)
            }
        },
    ]

    private static let types: [UInt32] =
        [
            TypeID.bool, TypeID.bytea, TypeID.name, TypeID.int8, TypeID.int2, TypeID.int4, TypeID.text, TypeID.oid,
            TypeID.json, TypeID.float4, TypeID.float8, TypeID.bpchar, TypeID.varchar, TypeID.timestamptz, TypeID.uuid,
            TypeID.jsonb, 0,
        ] + TypeID.arrays.sorted()

    /// Copies one value of a kind that the step chooses; false when it was refused.
    private static func copy(from reader: inout ByteReader, to writer: inout ByteWriter, step: UInt8) -> Bool {
        do throws(ByteReader.Fault) {
            switch step % 7 {
            case 0: writer.byte(try reader.byte())
            case 1: writer.uint32(try reader.uint32())
            case 2: writer.uint64(try reader.uint64())
            case 3: writer.uuid(try reader.uuid())
            case 4: writer.bytes(try reader.bytes())
            case 5: writer.raw(try reader.raw(Int(step >> 5)))
            default: writer.varint(try reader.varint())
            }
            return true
        } catch {
            return false
        }
    }

    private static func comesBack<Value: SQLValue & SQLDecodable>(
        _ type: Value.Type, _ cell: SQLCell, onlyOf own: UInt32
    ) {
        guard let value = Value.decode(cell), cell.type == own, let bytes = cell.bytes else { return }
        var written: [UInt8] = []
        expect(value.encode(into: &written), "a value that was read is no NULL")
        expect(written == [UInt8](bytes), "a value that was read is written as it came")
    }

    private static func arrayComesBack<Element: SQLElement & SQLValue & SQLDecodable>(
        _ type: Element.Type, _ cell: SQLCell
    ) {
        guard let values = [Element].decode(cell), let bytes = cell.bytes else { return }
        expect(values.count <= bytes.count / 4, "an array has no more elements than its bytes can hold")
        var written: [UInt8] = []
        _ = values.encode(into: &written)
        let again = written.withUnsafeBytes { [Element].decode(SQLCell(bytes: $0, type: Element.sqlArrayType)) }
        var rewritten: [UInt8] = []
        _ = again?.encode(into: &rewritten)
        expect(written == rewritten, "an array that was written is read again")
    }
}
