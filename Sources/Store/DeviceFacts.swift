public import Domain
import Postgres
import Wire

/// One addressable device: a mailbox that a message to (account, app) must reach.
public struct MailboxAddress: Sendable {
    public let account: AccountID
    public let device: DeviceID
    public let mailbox: MailboxID
    public let keyVersion: Int64
}

// Device lists: what enrolling, removing and sending must agree on.
//
// Lock order, the same everywhere so that nodes never deadlock: device_list rows by account, then mailbox rows by id.

extension Query<(account: AccountID, version: Int64)> {
    /// Locks the lists against change while a message is addressed; the current version of each account's that exists
    /// and is not disabled.
    public static func sharingDeviceLists(of accounts: [AccountID]) -> Self {
        Query(
            """
            SELECT l.account_id, l.version
            FROM device_list l
            JOIN account a ON a.id = l.account_id AND a.disabled_at IS NULL
            WHERE l.account_id = ANY(\(accounts))
            ORDER BY l.account_id
            FOR SHARE OF l
            """
        ) { row throws(PostgresError) in (account: try row[0], version: try row[1]) }
    }
}

extension Transaction {
    /// How many devices there are that have not been removed.
    public func enrolledDevices() throws(Failure) -> Int {
        try first("SELECT count(*) FROM device WHERE removed_at IS NULL") { row throws(PostgresError) in
            Int(try row[0] as Int64)
        } ?? 0
    }

    /// Made with the account, so that senders and enrolments always have a row to lock.
    public func createDeviceList(of account: AccountID) throws(Failure) {
        try execute("INSERT INTO device_list (account_id) VALUES (\(account))")
    }

    /// Takes a list for changing its set or a key; the version before.
    @discardableResult
    public func lockDeviceList(of account: AccountID) throws(Failure) -> Int64 {
        let version = try first(
            """
            SELECT version
            FROM device_list
            WHERE account_id = \(account)
            FOR UPDATE
            """
        ) { row throws(PostgresError) in try row[0] as Int64 }
        guard let version else { throw .missing("There is no such account.") }
        return version
    }

    /// Says that a locked list changed: its version grows, and whoever listens hears of it.
    public func bumpDeviceList(of account: AccountID) throws(Failure) {
        let version = try first(
            "UPDATE device_list SET version = version + 1 WHERE account_id = \(account) RETURNING version"
        ) { row throws(PostgresError) in try row[0] as Int64 }
        guard let version else { throw .missing("There is no such account.") }
        ring(.devices(account, version: version))
    }

    /// The devices that hold the app, of all the accounts together.
    public func addresses(of accounts: [AccountID], in app: AppID) throws(Failure) -> [MailboxAddress] {
        try query(
            """
            SELECT m.account_id, m.device_id, m.id, d.key_version
            FROM mailbox m
            JOIN device d ON d.id = m.device_id
            WHERE m.account_id = ANY(\(accounts)) AND m.app_id = \(app) AND d.removed_at IS NULL
            ORDER BY m.account_id, m.device_id
            """
        ) { row throws(PostgresError) in
            MailboxAddress(account: try row[0], device: try row[1], mailbox: try row[2], keyVersion: try row[3])
        }
    }

    /// Gives an app its mailbox on a device; `false` when it has one.
    ///
    /// The account's device list is locked by the caller. The first epoch is the time: a mailbox made again, after
    /// its app was removed and returned, voids older cursors.
    public func openMailbox(of account: AccountID, on device: DeviceID, for app: AppID) throws(Failure) -> Bool {
        let id: MailboxID = newID()
        let made = try execute(
            """
            INSERT INTO mailbox (id, account_id, device_id, app_id, epoch, created_at)
            VALUES (\(id), \(account), \(device), \(app), \(now.seconds), \(now))
            ON CONFLICT ON CONSTRAINT mailbox_device_app_key DO NOTHING
            """)
        guard made == 1 else { return false }
        try execute("INSERT INTO mailbox_ack (mailbox_id) VALUES (\(id))")
        return true
    }

    /// Deletes the device's mailboxes with all that waits in them.
    ///
    /// The account's device list is locked by the caller.
    public func closeMailboxes(on device: DeviceID) throws(Failure) {
        try closeMailboxes("device_id = \(device)")
    }

    /// Deletes the app's mailboxes everywhere; the accounts whose sets of devices this changes, already locked and bumped.
    public func closeMailboxes(in app: AppID) throws(Failure) {
        let accounts = try query("SELECT DISTINCT account_id FROM mailbox WHERE app_id = \(app) ORDER BY account_id") {
            row throws(PostgresError) in try row[0] as AccountID
        }
        for account in accounts {
            try lockDeviceList(of: account)
            try bumpDeviceList(of: account)
        }
        try closeMailboxes("app_id = \(app)")
    }

    private func closeMailboxes(_ which: SQL) throws(Failure) {
        let ids = try query("SELECT id FROM mailbox WHERE " + which + " ORDER BY id FOR UPDATE") {
            row throws(PostgresError) in try row[0] as UUID
        }
        guard !ids.isEmpty else { return }
        try batch([
            "DELETE FROM mailbox_item WHERE mailbox_id = ANY(\(ids))",
            "DELETE FROM mailbox_ack WHERE mailbox_id = ANY(\(ids))",
            "DELETE FROM mailbox WHERE id = ANY(\(ids))",
        ])
    }
}
