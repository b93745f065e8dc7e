import Application
import Domain
import Store

enum Migrate: Verb {
    static let name = "migrate"
    static let summary = "bring the database's schema up to date"
    static let help = """
        usage: enfilade migrate [--settings FILE]

        Needs ENFILADE_OWNER_DATABASE_URL: the database, as role enfilade_owner, which owns it. The role enfilade_app,
        as which the server connects, must exist. Safe to run again, from several machines, and while servers run.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow("settings")
        let settings = try arguments.settings()
        try settings.checkForOwner()
        let standing = try await Owner(settings).migrate { observation in
            guard case .migrated(let version, let name) = observation else { return }
            Output.print("applied migration \(version) \(name)")
        }
        switch standing {
        case .current:
            Output.print("the schema is up to date")
            return 0
        case .behind(let names): return Output.fail("still missing: \(names.joined(separator: ", "))")
        case .ahead(let name): return Output.fail("the schema has \(name), which needs a newer enfilade")
        case .lacksRole:
            return Output.fail(
                "the role enfilade_app does not exist: CREATE ROLE enfilade_app LOGIN, then run this again")
        case .altered(let name): return Output.fail("\(name) was applied with other content than this binary has")
        }
    }
}
