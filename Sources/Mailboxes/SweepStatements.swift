import Domain
import Postgres
import Store
import Wire

// Forgetting. Rows are taken with SKIP LOCKED: the sweeper waits for nobody, so it can be part of no deadlock.
// They are deleted by their place: a join with the whole table tempts the planner to read all of it, once it expects many.

extension Transaction {
    /// Deletes a little behind the acknowledgements of some mailboxes.
    func sweepAcknowledged() throws(Failure) -> (items: Int, mailboxes: Int, isUnfinished: Bool) {
        let swept = try first(
            """
            WITH behind AS (
                SELECT mailbox_id, swept_through, LEAST(acked, swept_through + \(Sweep.itemsOfMailbox)) AS through, acked
                FROM mailbox_ack
                WHERE is_behind
                LIMIT \(Sweep.mailboxes)
                FOR NO KEY UPDATE SKIP LOCKED
            ), gone AS (
                DELETE FROM mailbox_item
                WHERE ctid = ANY(ARRAY(
                    SELECT old.place
                    FROM behind b
                    CROSS JOIN LATERAL (
                        SELECT x.ctid AS place
                        FROM mailbox_item x
                        WHERE x.mailbox_id = b.mailbox_id AND x.seq > b.swept_through AND x.seq <= b.through
                        OFFSET 0
                        FOR UPDATE SKIP LOCKED
                    ) AS old))
                RETURNING 1
            ), moved AS (
                UPDATE mailbox_ack a
                SET swept_through = b.through
                FROM behind b
                WHERE a.mailbox_id = b.mailbox_id
            )
            SELECT (SELECT count(*) FROM gone), count(*), COALESCE(bool_or(through < acked), false)
            FROM behind
            """
        ) { row throws(PostgresError) in
            (items: try row[0] as Int, mailboxes: try row[1] as Int, isUnfinished: try row[2] as Bool)
        }
        return swept ?? (0, 0, false)
    }

    func sweepExpired() throws(Failure) -> Int {
        try execute(
            """
            DELETE FROM mailbox_item
            WHERE ctid = ANY(ARRAY(
                SELECT ctid
                FROM mailbox_item
                WHERE keep_until <= \(now)
                ORDER BY keep_until
                LIMIT \(Sweep.rows)
                FOR UPDATE SKIP LOCKED))
            """)
    }

    func sweepMessages() throws(Failure) -> Int {
        try execute(
            """
            DELETE FROM message
            WHERE ctid = ANY(ARRAY(
                SELECT ctid
                FROM message
                WHERE keep_until <= \(now)
                ORDER BY keep_until
                LIMIT \(Sweep.rows)
                FOR UPDATE SKIP LOCKED))
            """)
    }

    /// Cuts the oldest items of a mailbox that holds more than so many bytes; how many went.
    func trim(_ mailbox: MailboxID, toBytes bytes: Int64) throws(Failure) -> Int {
        let start = try first(
            """
            SELECT GREATEST(m.trimmed_through, a.acked)
            FROM mailbox m
            JOIN mailbox_ack a ON a.mailbox_id = m.id
            WHERE m.id = \(mailbox)
            FOR NO KEY UPDATE OF m
            """
        ) { row throws(PostgresError) in try row[0] as Int64 }
        guard let start else { return 0 }
        let cut = try first(
            """
            SELECT max(i.seq)
            FROM (
                SELECT seq, sum(octet_length(ciphertext)) OVER (ORDER BY seq DESC ROWS UNBOUNDED PRECEDING) AS total
                FROM mailbox_item
                WHERE mailbox_id = \(mailbox) AND seq > \(start)
            ) i
            WHERE i.total > \(bytes)
            """
        ) { row throws(PostgresError) in try row[0] as Int64? }
        guard let cut = cut ?? nil else { return 0 }
        try execute("UPDATE mailbox SET trimmed_through = \(cut) WHERE id = \(mailbox)")
        return try execute(
            "DELETE FROM mailbox_item WHERE mailbox_id = \(mailbox) AND seq > \(start) AND seq <= \(cut)")
    }
}
