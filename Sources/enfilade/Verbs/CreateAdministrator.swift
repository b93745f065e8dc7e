import Application
import Domain

enum CreateAdministrator: Verb {
    static let name = "admin create"
    static let summary = "make an account with the role admin"
    static let help = """
        usage: enfilade admin create --username NAME --password-file FILE [--display-name TEXT]
                                     [--settings FILE]

        The password is the first line of FILE, or of standard input when FILE is -.
        Needs ENFILADE_OWNER_DATABASE_URL or ENFILADE_DATABASE_URL.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow("username", "password-file", "display-name", "settings")
        let username = try arguments.required("username")
        let path = try arguments.required("password-file")
        guard let password = File.firstLine(of: path) else { return Output.fail("\(path) cannot be read") }
        let settings = try arguments.settings()
        let id = try await Owner(settings).createAdministrator(
            username: username, displayName: arguments.options["display-name"] ?? username, password: password)
        Output.print("created account \(id)")
        return 0
    }
}
