internal import CPostgreSQL

/// One row of a result, lent to the closure that reads it; columns count from zero.
public struct Row: ~Copyable {
    private let result: OpaquePointer
    private let index: Int32

    init(_ result: OpaquePointer, _ index: Int32) {
        self.result = result
        self.index = index
    }

    /// The value of a column, in the type that the reader asks for.
    ///
    /// Throws `.decoding` when the column is absent, NULL for a type that is not optional, or of another type.
    public subscript<Value: SQLDecodable>(_ column: Int) -> Value {
        get throws(PostgresError) {
            guard let cell = cell(column), let value = Value.decode(cell) else { throw .decoding(column: column) }
            return value
        }
    }

    public var count: Int { Int(PQnfields(result)) }

    private func cell(_ column: Int) -> SQLCell? {
        guard let number = Int32(exactly: column), number >= 0, number < PQnfields(result) else { return nil }
        guard PQfformat(result, number) == 1 else { return nil }
        let type = PQftype(result, number)
        guard PQgetisnull(result, index, number) == 0 else { return SQLCell(bytes: nil, type: type) }
        let length = Int(PQgetlength(result, index, number))
        let bytes = UnsafeRawBufferPointer(start: PQgetvalue(result, index, number), count: length)
        return SQLCell(bytes: bytes, type: type)
    }
}

/// The rows of one answer, kept until they are read.
public struct Rows {
    private let answer: Answer

    init(_ answer: Answer) { self.answer = answer }

    /// Each row, read by the closure.
    public func map<T>(_ decode: (borrowing Row) throws(PostgresError) -> T) throws(PostgresError) -> [T] {
        let count = answer.rowCount
        var values: [T] = []
        values.reserveCapacity(Int(count))
        for index in 0..<count { values.append(try decode(Row(answer.result, index))) }
        return values
    }
}

/// A result of libpq, freed with its last reference.
final class Answer {
    let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit { PQclear(result) }

    var rowCount: Int32 { PQntuples(result) }

    /// Rows that the command touched or returned, as its tag says.
    var affected: Int {
        guard let text = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    /// Whether a COMMIT was answered with "ROLLBACK", as it is in a transaction that had failed.
    var isRollback: Bool {
        guard let tag = PQcmdStatus(result) else { return false }
        return String(cString: tag) == "ROLLBACK"
    }
}
