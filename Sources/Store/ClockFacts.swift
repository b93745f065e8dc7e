public import Domain
import Postgres
public import Wire

extension Transaction {
    /// The database's own time, at this moment and not at the transaction's begin.
    public func databaseTime() throws(Failure) -> Instant {
        let time = try first("SELECT clock_timestamp()") { row throws(PostgresError) in try row[0] as Instant }
        guard let time else { throw .broken(cause: "the database did not tell the time") }
        return time
    }
}
