public import Domain
import Postgres

/// Work that one node does for all, one transaction at a time.
public enum Duty: Int64, Sendable {
    case sequenceAudit = 7_303_001
    case sweepMailboxes = 7_303_002
    case sweepSessions = 7_303_003
    case rotateKeys = 7_303_004
}

extension Transaction {
    /// Takes the duty until the end of this transaction, or returns `false` when another node has it just now.
    public func take(_ duty: Duty) throws(Failure) -> Bool {
        try first("SELECT pg_try_advisory_xact_lock(\(duty.rawValue))") { row throws(PostgresError) in
            try row[0] as Bool
        } ?? false
    }
}
