import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// The revision in force; `nil` while nothing has been published.
    func currentRevision(of app: AppID) throws(Failure) -> Revision? {
        try first(
            """
            SELECT r.revision, r.reason, r.author, r.rolled_back_from, r.created_at, r.content
            FROM configuration c
            JOIN configuration_revision r ON r.app_id = c.app_id AND r.revision = c.revision
            WHERE c.app_id = \(app)
            """, Self.revision)
    }

    /// As `currentRevision`, and nobody else publishes until this transaction ends.
    func lockCurrentRevision(of app: AppID) throws(Failure) -> Revision? {
        try execute(
            """
            INSERT INTO configuration (app_id, revision)
            VALUES (\(app), 0)
            ON CONFLICT ON CONSTRAINT configuration_pkey DO UPDATE
            SET revision = configuration.revision
            """)
        // A statement of its own, so that it sees what was committed while this one waited.
        return try currentRevision(of: app)
    }

    /// The states in force of several apps; those without a revision are left out.
    func marks(of apps: [AppID]) throws(Failure) -> [AppID: Mark] {
        let rows = try query(
            """
            SELECT c.app_id, r.revision, r.created_at
            FROM configuration c
            JOIN configuration_revision r ON r.app_id = c.app_id AND r.revision = c.revision
            WHERE c.app_id = ANY(\(apps))
            """
        ) { row throws(PostgresError) in
            (try row[0] as AppID, Mark(revision: try row[1], publishedAt: try row[2]))
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    func revision(_ number: Int64, of app: AppID) throws(Failure) -> Revision? {
        try first(
            """
            SELECT revision, reason, author, rolled_back_from, created_at, content
            FROM configuration_revision
            WHERE app_id = \(app) AND revision = \(number)
            """, Self.revision)
    }

    func hasRevision(_ number: Int64, of app: AppID) throws(Failure) -> Bool {
        try first(
            """
            SELECT true
            FROM configuration_revision
            WHERE app_id = \(app) AND revision = \(number)
            """
        ) { row throws(PostgresError) in try row[0] as Bool } ?? false
    }

    /// Newest first.
    func revisions(of app: AppID, before: Int64, limit: Int) throws(Failure) -> [RevisionSummary] {
        try query(
            """
            SELECT revision, reason, author, rolled_back_from, created_at
            FROM configuration_revision
            WHERE app_id = \(app) AND revision < \(before)
            ORDER BY revision DESC
            LIMIT \(limit)
            """, Self.summary)
    }

    /// Puts a revision in force; the configuration is locked by the caller.
    func insert(_ revision: Revision, of app: AppID) throws(Failure) {
        let content = String(decoding: revision.content, as: UTF8.self)
        let summary = revision.summary
        try batch([
            """
            INSERT INTO configuration_revision (app_id, revision, content, reason, author, rolled_back_from, created_at)
            VALUES (\(app), \(summary.revision), \(content), \(summary.reason), \(summary.author),
                    \(summary.rolledBackFrom), \(summary.createdAt))
            """,
            "UPDATE configuration SET revision = \(summary.revision) WHERE app_id = \(app)",
        ])
    }

    private static func summary(_ row: borrowing Row) throws(PostgresError) -> RevisionSummary {
        RevisionSummary(
            revision: try row[0], reason: try row[1], author: try row[2], rolledBackFrom: try row[3],
            createdAt: try row[4])
    }

    private static func revision(_ row: borrowing Row) throws(PostgresError) -> Revision {
        Revision(summary: try summary(row), content: Array((try row[5] as String).utf8))
    }
}
