/// The schema's history: every file of this folder, in the order in which it is applied.
///
/// Files are embedded in the binary, so that one binary can bring any older database up to date. A file that has been
/// released is never edited: the migrator compares the checksum of what was applied with what is here.
public struct Migration: Sendable {
    public let version: Int
    public let name: String
    public let sql: [UInt8]

    /// A marked file runs outside a transaction (index builds alone).
    public var isTransactional: Bool { !sql.starts(with: "-- no-transaction".utf8) }

    /// A node that does not know this migration must not start against a schema that has it.
    public var isBreaking: Bool { sql.starts(with: "-- breaking".utf8) }

    public static let all: [Migration] = [
        Migration(1, "audit", PackageResources.m0001_audit_sql),
        Migration(2, "account", PackageResources.m0002_account_sql),
        Migration(3, "session", PackageResources.m0003_session_sql),
        Migration(4, "device", PackageResources.m0004_device_sql),
        Migration(5, "mailbox", PackageResources.m0005_mailbox_sql),
        Migration(6, "configuration", PackageResources.m0006_configuration_sql),
        Migration(7, "idempotency", PackageResources.m0007_idempotency_sql),
        Migration(8, "ack", PackageResources.m0008_ack_sql),
        Migration(9, "audit_rights", PackageResources.m0009_audit_rights_sql),
        Migration(10, "plans", PackageResources.m0010_plans_sql),
    ]

    private init(_ version: Int, _ name: String, _ sql: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}
