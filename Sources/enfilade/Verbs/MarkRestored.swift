import Application
import Domain

enum MarkRestored: Verb {
    static let name = "restored"
    static let summary = "after restoring a backup: tell every device that the past has changed"
    static let help = """
        usage: enfilade restored

        Gives every mailbox a new epoch, so that devices which saw more than the backup holds are told so (gap reset)
        instead of missing what comes next. Run it once, before servers start on the restored database.
        Needs ENFILADE_OWNER_DATABASE_URL.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow()
        let settings = try Settings(environment: Environment.variables)
        try settings.checkForOwner()
        let count = try await Owner(settings).markRestored()
        Output.print("\(count) mailboxes have a new epoch")
        return 0
    }
}
