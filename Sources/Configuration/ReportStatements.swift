import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// Keeps the latest report of a device; `false` when it says what the one before said.
    func save(_ report: Report, of app: AppID) throws(Failure) -> Bool {
        let before = try first(
            """
            SELECT revision, state, reasons
            FROM configuration_report
            WHERE app_id = \(app) AND device_id = \(report.device)
            FOR UPDATE
            """
        ) { row throws(PostgresError) in
            (revision: try row[0] as Int64, state: try row[1] as String, reasons: try row[2] as String?)
        }
        let reasons = report.reasons.map { String(decoding: $0, as: UTF8.self) }
        try execute(
            """
            INSERT INTO configuration_report (app_id, device_id, account_id, revision, state, reasons, reported_at)
            VALUES (\(app), \(report.device), \(report.account), \(report.revision), \(report.state.rawValue),
                    \(reasons), \(report.reportedAt))
            ON CONFLICT ON CONSTRAINT configuration_report_pkey DO UPDATE
            SET revision = excluded.revision, state = excluded.state, reasons = excluded.reasons,
                reported_at = excluded.reported_at
            """)
        guard let before else { return true }
        return before != (report.revision, report.state.rawValue, reasons)
    }

    /// What the device last said it holds; `.unpublished` when it has not applied anything.
    func appliedMark(of app: AppID, on device: DeviceID) throws(Failure) -> Mark {
        try first(
            """
            SELECT v.revision, v.created_at
            FROM configuration_report r
            JOIN configuration_revision v ON v.app_id = r.app_id AND v.revision = r.revision
            WHERE r.app_id = \(app) AND r.device_id = \(device) AND r.state = 'applied'
            """
        ) { row throws(PostgresError) in Mark(revision: try row[0], publishedAt: try row[1]) } ?? .unpublished
    }

    /// The reports of devices that are still there, by device.
    func reports(of app: AppID, _ filter: ReportFilter, after: DeviceID?, limit: Int) throws(Failure) -> [Report] {
        var sql: SQL = """
            SELECT r.device_id, r.account_id, r.revision, r.state, r.reasons, r.reported_at
            FROM configuration_report r
            WHERE r.app_id = \(app) AND \(SQL.isEnrolled("r.device_id"))
            """
        if let after { sql += " AND r.device_id > \(after)" }
        // Each combination has an index that ends in the device.
        if let state = filter.state { sql += " AND r.state = \(state.rawValue)" }
        if let revision = filter.revision { sql += " AND r.revision = \(revision)" }
        sql += " ORDER BY r.device_id LIMIT \(limit)"
        return try query(sql) { row throws(PostgresError) in
            guard let state = Report.State(rawValue: try row[3]) else { throw .decoding(column: 3) }
            let reasons: String? = try row[4]
            return Report(
                device: try row[0], account: try row[1], revision: try row[2], state: state,
                reasons: reasons.map { Array($0.utf8) }, reportedAt: try row[5])
        }
    }
}
