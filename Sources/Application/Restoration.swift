import Domain
import Mailboxes
import Store
import Wire

/// What was done after a backup was restored, in one transaction.
public struct Restoration: Sendable {
    /// Mailboxes that began a new epoch.
    public let mailboxes: Int
    /// Sessions that ended: one that was signed out since the backup would live again, and nobody can tell which.
    public let sessions: Int
    /// Enrolled devices, of which those removed since the backup are enrolled again.
    public let devices: Int

    static func perform(in database: Database) async throws(Failure) -> Restoration {
        try await database.transaction { (tx) throws(Failure) in
            let restoration = Restoration(
                mailboxes: try Mailboxes.restored(in: tx), sessions: try tx.endEverySession(because: .backupRestored),
                devices: try tx.enrolledDevices())
            tx.record(
                Deed(.backupRestored, of: Deed.Target(.server, nil), after: restoration.facts),
                by: Actor(kind: .operator))
            return restoration
        }
    }

    private var facts: JSON {
        func number(_ count: Int) -> JSON { .number(JSON.Number(Int64(count))) }
        return ["mailboxes": number(mailboxes), "sessions": number(sessions), "devices": number(devices)]
    }
}
