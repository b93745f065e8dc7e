import Application
import Domain

enum ShowSettings: Verb {
    static let name = "settings"
    static let summary = "list every setting with its value and where it comes from, secrets masked"
    static let help = """
        usage: enfilade settings [--settings FILE] [--json]
               enfilade settings --example

        Reads what serve reads: the environment, and for what it does not say the file that --settings or
        ENFILADE_SETTINGS_FILE names. Prints NAME=VALUE, what it means and where it comes from (default, environment or
        FILE:LINE), and fails when something is wrong. --example prints a file with every setting, commented out.

        A file has NAME=value lines and comments (#). systemd's EnvironmentFile= reads the same file. Nobody but root and
        the server's user may be able to write it; with a database's address in it, not everybody may read it.
        """
    static let flags: Set<String> = ["json", "example"]

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow("settings")
        guard !arguments.flags.contains("example") else {
            Output.print(example)
            return 0
        }
        let settings = try arguments.settings()
        Output.print(arguments.flags.contains("json") ? settings.json : list(settings))
        return 0
    }

    private static func list(_ settings: Settings) -> String {
        Setting.all.map { setting in
            let source = settings.sources[setting.name].map { "\($0)" } ?? "default"
            return "# \(setting.meaning) [\(source)]\n\(setting.name)=\(setting.value(in: settings))"
        }.joined(separator: "\n")
    }

    private static var example: String {
        let head = """
            # Settings of enfilade \(Program.version): what is commented out is the default or has none.
            # For enfilade serve --settings FILE, for ENFILADE_SETTINGS_FILE and for systemd's EnvironmentFile=.
            # The environment wins over this file. Mode 0640, owned by root, of the server's group.
            """
        return ([head] + Setting.all.map { "# \($0.meaning)\n\($0.example)" }).joined(separator: "\n\n")
    }
}
