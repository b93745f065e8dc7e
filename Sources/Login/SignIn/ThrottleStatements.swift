import Domain
import Postgres
import Store
import Wire

extension Transaction {
    func failures(of subjects: [[UInt8]]) throws(Failure) -> [Failures] {
        try query(
            """
            SELECT failures, last_failed_at, blocked_until
            FROM sign_in_throttle
            WHERE subject = ANY(\(subjects))
            """, Failures.init)
    }

    /// Counts one more failure, or returns the seconds to wait when the subject is blocked.
    ///
    /// Those that come at once are counted one after the other.
    @discardableResult
    func countFailure(of subject: [UInt8], by rule: ThrottleRule) throws(Failure) -> Int? {
        try execute(
            """
            INSERT INTO sign_in_throttle (subject, failures, last_failed_at)
            VALUES (\(subject), 0, \(now))
            ON CONFLICT ON CONSTRAINT sign_in_throttle_pkey DO NOTHING
            """)
        let known = try first(
            """
            SELECT failures, last_failed_at, blocked_until
            FROM sign_in_throttle
            WHERE subject = \(subject)
            FOR UPDATE
            """, Failures.init)
        if let seconds = known?.wait(at: now) { return seconds }
        let failures = rule.failed(after: known, at: now)
        try execute(
            """
            UPDATE sign_in_throttle
            SET failures = \(failures.count), last_failed_at = \(failures.lastAt), blocked_until = \(failures.blockedUntil)
            WHERE subject = \(subject)
            """)
        return nil
    }

    /// Writes a row that means nothing and is swept as the others are.
    func leaveTrace(_ subject: [UInt8]) throws(Failure) {
        try execute(
            """
            INSERT INTO sign_in_throttle (subject, failures, last_failed_at)
            VALUES (\(subject), 0, \(now))
            ON CONFLICT ON CONSTRAINT sign_in_throttle_pkey DO UPDATE
            SET last_failed_at = excluded.last_failed_at
            """)
    }

    /// Takes back the last failure of a subject, which then was none.
    func uncountFailure(of subject: [UInt8]) throws(Failure) {
        try execute(
            """
            UPDATE sign_in_throttle
            SET failures = greatest(failures - 1, 0), blocked_until = NULL
            WHERE subject = \(subject)
            """)
    }

    func forgive(_ subject: [UInt8]) throws(Failure) {
        try execute("DELETE FROM sign_in_throttle WHERE subject = \(subject)")
    }
}

extension Failures {
    fileprivate init(_ row: borrowing Row) throws(PostgresError) {
        count = try row[0]
        lastAt = try row[1]
        blockedUntil = try row[2]
    }
}
