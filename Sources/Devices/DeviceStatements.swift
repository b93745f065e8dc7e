import Domain
import Postgres
import Store
import Wire

// The apps of a device are read from where they leave their traces: its mailboxes and its live sessions.
private let columns: SQL = """
    d.id, d.account_id, d.name, d.platform, d.model, d.os_version, d.app_version, d.identity_key, d.agreement_key,
    d.key_version, d.enrolled_at, d.updated_at, d.last_seen_at, d.version,
    ARRAY (
        SELECT m.app_id FROM mailbox m WHERE m.device_id = d.id
        UNION
        SELECT s.app_id FROM session s WHERE s.device_id = d.id AND s.ended_at IS NULL
        ORDER BY 1
    )
    """

extension Transaction {
    func device(_ id: DeviceID) throws(Failure) -> Device? { try first(.device(id)) }

    /// A device for changing or removing it; after the list of its account, where that is locked too.
    func lockDevice(_ id: DeviceID) throws(Failure) -> Device? {
        try first(
            """
            SELECT \(columns)
            FROM device d
            WHERE d.id = \(id) AND d.removed_at IS NULL
            FOR NO KEY UPDATE OF d
            """, Device.init(row:))
    }

    /// Whose device has or had this identity key.
    func holder(of identityKey: [UInt8]) throws(Failure) -> (id: DeviceID, account: AccountID, isRemoved: Bool)? {
        try first(
            """
            SELECT id, account_id, removed_at IS NOT NULL
            FROM device
            WHERE identity_key = \(identityKey)
            """
        ) { row throws(PostgresError) in (try row[0], try row[1], try row[2]) }
    }

    func deviceCount(of account: AccountID) throws(Failure) -> Int {
        try first("SELECT count(*) FROM device WHERE account_id = \(account) AND removed_at IS NULL") {
            row throws(PostgresError) in try row[0] as Int
        } ?? 0
    }

    func insert(_ device: Device) throws(Failure) {
        let description = device.description
        try execute(
            """
            INSERT INTO device (id, account_id, name, platform, model, os_version, app_version, identity_key,
                                agreement_key, key_version, enrolled_at, updated_at, last_seen_at, version)
            VALUES (\(device.id), \(device.account), \(description.name), \(description.platform),
                    \(description.model), \(description.osVersion), \(description.appVersion), \(device.identityKey),
                    \(device.agreementKey), \(device.keyVersion), \(device.enrolledAt), \(device.updatedAt),
                    \(device.lastSeenAt), \(device.version))
            """)
    }

    func save(_ device: Device) throws(Failure) {
        let description = device.description
        try execute(
            """
            UPDATE device
            SET name = \(description.name), platform = \(description.platform), model = \(description.model),
                os_version = \(description.osVersion), app_version = \(description.appVersion),
                agreement_key = \(device.agreementKey), key_version = \(device.keyVersion),
                updated_at = \(device.updatedAt), last_seen_at = \(device.lastSeenAt), version = \(device.version)
            WHERE id = \(device.id)
            """)
    }

    /// The row stays: its identity key is never taken again.
    func removeDevice(_ id: DeviceID) throws(Failure) {
        try execute(
            """
            UPDATE device
            SET removed_at = \(now), updated_at = \(now), version = version + 1
            WHERE id = \(id)
            """)
    }
}

extension Query<Device> {
    static func device(_ id: DeviceID) -> Self {
        Query(
            """
            SELECT \(columns)
            FROM device d
            WHERE d.id = \(id) AND d.removed_at IS NULL
            """, Device.init(row:))
    }

    /// In the order of their enrolment, which is that of their ids.
    static func devices(of account: AccountID, after: DeviceID?, limit: Int) -> Self {
        let start: SQL = if let after { "AND d.id > \(after)" } else { "" }
        return Query(
            """
            SELECT \(columns)
            FROM device d
            WHERE d.account_id = \(account) AND d.removed_at IS NULL \(start)
            ORDER BY d.id
            LIMIT \(limit)
            """, Device.init(row:))
    }
}

extension Query<DeviceList.Row> {
    /// Version and devices from one statement, so that they belong together; no row without such an account.
    static func deviceList(of account: AccountID, holding app: AppID?) -> Self {
        let holds: SQL =
            if let app {
                "AND EXISTS (SELECT FROM mailbox m WHERE m.device_id = d.id AND m.app_id = \(app))"
            } else {
                ""
            }
        return Query(
            """
            SELECT l.version, d.id, d.platform, d.identity_key, d.agreement_key, d.key_version
            FROM device_list l
            LEFT JOIN device d ON d.account_id = l.account_id AND d.removed_at IS NULL \(holds)
            WHERE l.account_id = \(account)
            ORDER BY d.id
            """
        ) { row throws(PostgresError) in DeviceList.Row(version: try row[0], device: try ListedDevice(row: row)) }
    }
}

extension ListedDevice {
    /// `nil` on the one row of an account without such a device.
    fileprivate init?(row: borrowing Row) throws(PostgresError) {
        guard let id = try row[1] as DeviceID? else { return nil }
        self.init(
            id: id, platform: try row[2], identityKey: try row[3], agreementKey: try row[4], keyVersion: try row[5])
    }
}

extension Device {
    fileprivate init(row: borrowing Row) throws(PostgresError) {
        let description = DeviceDescription(
            name: try row[2], platform: try row[3], model: try row[4], osVersion: try row[5], appVersion: try row[6])
        self.init(
            id: try row[0], account: try row[1], description: description, identityKey: try row[7],
            agreementKey: try row[8], keyVersion: try row[9], enrolledAt: try row[10], updatedAt: try row[11],
            lastSeenAt: try row[12], version: try row[13], apps: try row[14])
    }
}
