import Application
import Domain

enum MarkRestored: Verb {
    static let name = "restored"
    static let summary = "after restoring a backup: end all sessions, tell every device that the past has changed"
    static let help = """
        usage: enfilade restored [--settings FILE]

        Gives every mailbox a new epoch, so that devices which saw more than the backup holds are told so (gap reset)
        instead of missing what comes next. Ends every session, because one that was ended since the backup would live
        again: everybody signs in anew, on the device they have. Says what it did, and what only you can know.
        Run it once, before servers start on the restored database. Needs ENFILADE_OWNER_DATABASE_URL.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow("settings")
        let settings = try arguments.settings()
        try settings.checkForOwner()
        let done = try await Owner(settings).markRestored()
        Output.print(
            """
            \(done.mailboxes) mailboxes have a new epoch
            \(done.sessions) sessions have ended: everybody signs in again
            \(done.devices) devices are enrolled: remove again those that were removed since the backup
            Accounts, apps and configuration are as they were then: disable, remove and publish again what changed since.
            """)
        return 0
    }
}
