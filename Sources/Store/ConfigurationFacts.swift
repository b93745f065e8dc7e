public import Domain
public import Postgres

extension Transaction {
    /// Forgets what was published to an app and what its devices reported: an app made later under the same id starts
    /// from nothing.
    public func forgetConfiguration(of app: AppID) throws(Failure) {
        try batch([
            "DELETE FROM configuration_report WHERE app_id = \(app)",
            "DELETE FROM configuration_revision WHERE app_id = \(app)",
            "DELETE FROM configuration WHERE app_id = \(app)",
        ])
    }
}

extension SQL {
    /// The condition that the device in a column has not been removed.
    ///
    /// Looked up row by row: without OFFSET 0 the planner merges with all devices there are, however few rows are shown.
    public static func isEnrolled(_ column: SQL) -> SQL {
        "EXISTS (SELECT FROM device WHERE device.id = \(column) AND device.removed_at IS NULL OFFSET 0)"
    }
}
