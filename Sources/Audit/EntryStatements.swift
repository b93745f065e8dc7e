import Domain
import Postgres
import Store
import Wire

/// Entries in order, and how far the log reached when they were read.
struct Page: Sendable {
    let entries: [Entry]
    /// The newest index; -1 while the log is empty.
    let head: Int64
}

extension Transaction {
    /// No entry stands further than this from its place in time.
    ///
    /// Entries are put in order as they commit, so their order and their times differ by the length of a transaction and
    /// by how wrong a node's clock is; a clock that is a minute wrong already makes tokens invalid.
    private static var disorder: Duration { .seconds(3_600) }

    /// The entries from an index on that pass a filter, oldest first.
    ///
    /// Every filter has an index that ends in `index`, and times become bounds of `index`: a page costs what it shows,
    /// however long the log is.
    func entries(from start: Int64, _ filter: Filter, limit: Int) throws(Failure) -> Page {
        var stretch = try bounds(start, filter)
        if let from = filter.from { stretch += " AND occurred_at >= \(from)" }
        if let to = filter.to { stretch += " AND occurred_at < \(to)" }
        return try page(of: Self.leaves(in: stretch, filter, limit))
    }

    private static func leaves(in stretch: SQL, _ filter: Filter, _ limit: Int) -> SQL {
        switch (filter.actor, filter.target, filter.outcome, filter.action) {
        case (nil, nil, nil, nil): ordered(stretch, by: "index", limit)
        case (let actor?, nil, nil, nil): along("actor_id", "\(actor)", in: stretch, limit)
        case (nil, let target?, nil, nil): along("target_id", "\(target)", in: stretch, limit)
        case (nil, nil, let outcome?, nil): along("outcome", "\(outcome.rawValue)", in: stretch, limit)
        case (nil, nil, nil, let action?): merged(action.names, in: stretch, limit)
        case (nil, nil, let outcome?, let action?):
            merged(action.names, and: outcome, in: stretch, limit)
        default: ordered(stretch + equalities(filter), by: "index", limit)
        }
    }

    /// The leaves with one value in a column, by the index of that column.
    ///
    /// An equality would let the planner walk the whole log instead, in the hope of meeting the value soon; with a range
    /// of one value and this order only that index will do.
    private static func along(_ column: SQL, _ value: SQL, in stretch: SQL, _ limit: Int) -> SQL {
        ordered(
            stretch + " AND \(column) >= \(value) AND \(column) <= \(value)", by: column + ", index", limit)
    }

    /// The leaves of several actions: each is read in its own order, so that nothing but a page has to be sorted.
    private static func merged(
        _ names: [String], and outcome: Deed.Outcome? = nil, in stretch: SQL, _ limit: Int
    ) -> SQL {
        let part: SQL
        if let outcome {
            let value = outcome.rawValue
            part = ordered(
                stretch
                    + " AND action >= wanted.name AND action <= wanted.name AND outcome >= \(value) AND outcome <= \(value)",
                by: "action, outcome, index", limit)
        } else {
            part = along("action", "wanted.name", in: stretch, limit)
        }
        return """
            SELECT part.index, part.entry_id
            FROM unnest(\(names)) AS wanted (name)
            CROSS JOIN LATERAL (\(part)) AS part
            ORDER BY part.index
            LIMIT \(limit)
            """
    }

    /// Several filters at once: which index is best is the planner's to say.
    private static func equalities(_ filter: Filter) -> SQL {
        var sql: SQL = ""
        if let actor = filter.actor { sql += " AND actor_id = \(actor)" }
        if let target = filter.target { sql += " AND target_id = \(target)" }
        if let outcome = filter.outcome { sql += " AND outcome = \(outcome.rawValue)" }
        if let action = filter.action { sql += " AND action = ANY(\(action.names))" }
        return sql
    }

    private static func ordered(_ conditions: SQL, by order: SQL, _ limit: Int) -> SQL {
        """
        SELECT index, entry_id
        FROM audit_leaf
        WHERE \(conditions)
        ORDER BY \(order)
        LIMIT \(limit)
        """
    }

    /// Rows and head from one statement: what lies between them was looked at, so that a reader may go on behind it.
    private func page(of leaves: SQL) throws(Failure) -> Page {
        let rows = try query(
            """
            SELECT log.head, leaf.index, e.id, e.occurred_at, e.action, e.outcome, e.actor_kind, e.actor_id,
                   e.target_kind, e.target_id, e.app_id, e.session_id, e.request_id, e.before, e.after, e.reason
            FROM (SELECT coalesce(max(index), -1) AS head FROM audit_leaf) AS log
            LEFT JOIN LATERAL (\(leaves)) AS leaf ON true
            LEFT JOIN audit_entry e ON e.id = leaf.entry_id
            ORDER BY leaf.index
            """
        ) { row throws(PostgresError) in
            let isEntry = try row[1] as Int64? != nil
            return (head: try row[0] as Int64, entry: isEntry ? try Self.entry(row) : nil)
        }
        return Page(entries: rows.compactMap(\.entry), head: rows.first?.head ?? -1)
    }

    private static func entry(_ row: borrowing Row) throws(PostgresError) -> Entry {
        Entry(
            index: try row[1], id: try row[2], time: try row[3], action: try row[4], outcome: try row[5],
            actorKind: try row[6], actorID: try row[7], targetKind: try row[8], targetID: try row[9], app: try row[10],
            session: try row[11], requestID: try row[12], before: try row[13], after: try row[14], reason: try row[15])
    }

    /// The stretch of the log in which entries of the wanted time can be.
    private func bounds(_ start: Int64, _ filter: Filter) throws(Failure) -> SQL {
        var first = start
        if let from = filter.from, let before = try lastIndex(until: from - Self.disorder) {
            first = max(first, before + 1)
        }
        guard let to = filter.to, let end = try firstIndex(since: to + Self.disorder) else {
            return "index >= \(first)"
        }
        return "index >= \(first) AND index < \(end)"
    }

    private func lastIndex(until instant: Instant) throws(Failure) -> Int64? {
        try first(
            """
            SELECT index
            FROM audit_leaf
            WHERE occurred_at <= \(instant)
            ORDER BY occurred_at DESC, index DESC
            LIMIT 1
            """
        ) { row throws(PostgresError) in try row[0] as Int64 }
    }

    private func firstIndex(since instant: Instant) throws(Failure) -> Int64? {
        try first(
            """
            SELECT index
            FROM audit_leaf
            WHERE occurred_at >= \(instant)
            ORDER BY occurred_at, index
            LIMIT 1
            """
        ) { row throws(PostgresError) in try row[0] as Int64 }
    }
}
