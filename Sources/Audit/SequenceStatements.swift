import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// Gives the longest waiting entries the next indexes, and returns how many there were.
    ///
    /// The duty is held by the caller. An entry that commits later than its place in the queue is simply put in order
    /// later: indexes have no holes. OFFSET 0 keeps the planner from reading all entries there are for a handful.
    func sequence(atMost limit: Int) throws(Failure) -> Int {
        try execute(
            """
            WITH taken AS (
                DELETE FROM audit_pending
                WHERE position IN (SELECT position FROM audit_pending ORDER BY position LIMIT \(limit))
                RETURNING position, entry_id
            )
            INSERT INTO audit_leaf (index, entry_id, occurred_at, action, outcome, actor_id, target_id)
            SELECT (SELECT coalesce(max(index), -1) FROM audit_leaf) + row_number() OVER (ORDER BY taken.position),
                   e.id, e.occurred_at, e.action, e.outcome, e.actor_id, e.target_id
            FROM taken
            CROSS JOIN LATERAL (
                SELECT id, occurred_at, action, outcome, actor_id, target_id
                FROM audit_entry
                WHERE audit_entry.id = taken.entry_id
                OFFSET 0
            ) AS e
            """)
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
