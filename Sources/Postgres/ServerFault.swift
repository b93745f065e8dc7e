internal import CPostgreSQL

extension PostgresError.Fault {
    private enum Field {
        /// Never translated.
        static let severity = Int32(UInt8(ascii: "V"))
        static let sqlstate = Int32(UInt8(ascii: "C"))
        static let message = Int32(UInt8(ascii: "M"))
        static let table = Int32(UInt8(ascii: "t"))
        static let constraint = Int32(UInt8(ascii: "n"))
        static let function = Int32(UInt8(ascii: "R"))
    }

    /// Reads an error result; without an SQLSTATE it is libpq's own and means a broken connection.
    init(_ result: OpaquePointer) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        sqlstate = field(Field.sqlstate) ?? "08000"
        message = field(Field.message) ?? ""
        table = field(Field.table)
        constraint = field(Field.constraint)
        let isOutdatedPlan = sqlstate == "0A000" && field(Field.function) == "RevalidateCachedQuery"
        isFatal = ["FATAL", "PANIC"].contains(field(Field.severity))
        isStale = isOutdatedPlan || sqlstate == "26000"
    }

    /// The server ends this connection with its answer, or is going away, or was never reachable.
    var endsConnection: Bool { isFatal || sqlstate.hasPrefix("08") }

    /// A write reached a server that became a standby.
    var isReadOnlyServer: Bool { sqlstate == "25006" }
}
