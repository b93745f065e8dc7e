import Application
import Domain

enum ShowSettings: Verb {
    static let name = "settings"
    static let summary = "list every setting with its value, secrets masked"
    static let help = """
        usage: enfilade settings

        Reads the environment as serve does, prints NAME=VALUE and what each means, and fails when one is wrong.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow()
        let settings = try Settings(environment: Environment.variables)
        for setting in Setting.all {
            Output.print("# \(setting.meaning)\n\(setting.name)=\(setting.value(in: settings))")
        }
        return 0
    }
}
