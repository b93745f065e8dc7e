import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// Deletes, of each kind, at most `limit` rows that have had their time; how many of each.
    func sweepRows(limit: Int) throws(Failure) -> [Int] {
        // Codes outlive their use, so that one that comes again is recognised; kept replies answer retries for a day.
        try batch([
            """
            DELETE FROM authorization_code
            WHERE hash IN (SELECT hash FROM authorization_code WHERE expires_at < \(now - .seconds(3_600)) LIMIT \(limit))
            """,
            """
            DELETE FROM session
            WHERE id IN (SELECT id FROM session WHERE ended_at < \(now - .seconds(30 * 86_400)) LIMIT \(limit))
            """,
            """
            DELETE FROM sign_in_throttle
            WHERE subject IN (
                SELECT subject FROM sign_in_throttle WHERE last_failed_at < \(now - .seconds(86_400)) LIMIT \(limit))
            """,
            """
            DELETE FROM idempotency
            WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM idempotency WHERE created_at < \(now - .seconds(86_400)) LIMIT \(limit)))
            """,
        ])
    }
}
