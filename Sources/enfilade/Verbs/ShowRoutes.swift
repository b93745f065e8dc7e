import Application
import Domain

enum ShowRoutes: Verb {
    static let name = "routes"
    static let summary = "list the server's routes"
    static let help = """
        usage: enfilade routes

        Prints METHOD PATTERN, one route a line, as openapi.yaml describes them.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow()
        for (method, pattern) in try Application.routes() { Output.print("\(method) \(pattern)") }
        return 0
    }
}
