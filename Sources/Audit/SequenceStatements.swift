import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// Gives the longest waiting entries the next indexes, and returns how many there were.
    ///
    /// The duty is held by the caller. The statement is a function of the schema's owner: this role may not touch the order.
    func sequence(atMost limit: Int) throws(Failure) -> Int {
        try first("SELECT audit_sequence(\(Int32(clamping: limit)))") { row throws(PostgresError) in
            Int(try row[0] as Int64)
        } ?? 0
    }

    func auditFigures() throws(Failure) -> Audit.Figures {
        try first(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM audit_pending LIMIT 100000) AS waiting),
                   (SELECT max(index) FROM audit_leaf)
            """
        ) { row throws(PostgresError) in
            Audit.Figures(pending: try row[0], lastIndex: try row[1])
        } ?? Audit.Figures()
    }
}
