import Application
import Domain
import Glibc

/// One thing that the program can be told to do.
protocol Verb: Sendable {
    static var name: String { get }
    /// One line for the list of verbs.
    static var summary: String { get }
    /// What `--help` prints below the summary.
    static var help: String { get }
    /// Options without a value.
    static var flags: Set<String> { get }

    static func run(_ arguments: Arguments) async throws -> Int32
}

extension Verb {
    static var flags: Set<String> { [] }
}

enum Verbs {
    static let all: [any Verb.Type] = [
        Serve.self, Migrate.self, CreateAdministrator.self, ShowSettings.self, CreateKey.self, MarkRestored.self,
        ShowRoutes.self,
    ]

    /// Exit status 0: done; 1: it failed, and standard error says why; 2: the command line cannot be read.
    static func dispatch(_ arguments: [String]) async -> Int32 {
        guard let first = arguments.first, !["help", "--help", "-h"].contains(first) else {
            Output.print(usage)
            return arguments.isEmpty ? 2 : 0
        }
        if first == "--version" {
            Output.print("enfilade \(Program.version)")
            return 0
        }
        guard let verb = all.first(where: { matches($0, arguments) }) else {
            return Output.fail("there is no verb \(first); see enfilade --help", status: 2)
        }
        let rest = Array(arguments.dropFirst(verb.name.split(separator: " ").count))
        guard !rest.contains("--help"), !rest.contains("-h") else {
            Output.print("enfilade \(verb.name): \(verb.summary)\n\n\(verb.help)")
            return 0
        }
        return await attempt(verb, rest)
    }

    private static func attempt(_ verb: any Verb.Type, _ arguments: [String]) async -> Int32 {
        do {
            return try await verb.run(Arguments(arguments, flags: verb.flags))
        } catch let fault as UsageFault {
            return Output.fail("\(fault.detail); see enfilade \(verb.name) --help", status: 2)
        } catch let faults as SettingFaults {
            for fault in faults.faults { _ = Output.fail(fault.description) }
            return 1
        } catch let failure as Failure {
            return Output.fail(failure.forOperators)
        } catch {
            return Output.fail("\(error)")
        }
    }

    private static func matches(_ verb: any Verb.Type, _ arguments: [String]) -> Bool {
        let words = verb.name.split(separator: " ").map(String.init)
        return Array(arguments.prefix(words.count)) == words
    }

    private static var usage: String {
        let width = all.map { $0.name.count }.max() ?? 0
        let lines = all.map { verb in
            "  \(verb.name)\(String(repeating: " ", count: width - verb.name.count))  \(verb.summary)"
        }
        return """
            enfilade \(Program.version): shared login, configuration, devices, mailboxes and audit for a suite of apps

            usage: enfilade VERB [--help]

            \(lines.joined(separator: "\n"))

            Settings come from the environment and a file (--settings FILE): enfilade settings lists them.
            """
    }
}

/// The command line cannot be read.
struct UsageFault: Error {
    let detail: String
}

/// Options of the form `--name VALUE` or, for flags, `--name`, and what stands beside them.
struct Arguments: Sendable {
    private(set) var options: [String: String] = [:]
    private(set) var flags: Set<String> = []
    private(set) var plain: [String] = []

    init(_ arguments: [String], flags known: Set<String> = []) throws(UsageFault) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                plain.append(argument)
                continue
            }
            guard !known.contains(String(argument.dropFirst(2))) else {
                flags.insert(String(argument.dropFirst(2)))
                continue
            }
            guard let value = rest.popFirst() else { throw UsageFault(detail: "\(argument) needs a value") }
            guard options.updateValue(value, forKey: String(argument.dropFirst(2))) == nil else {
                throw UsageFault(detail: "\(argument) is given twice")
            }
        }
    }

    /// Refuses what the verb does not know.
    func allow(_ names: String..., plain count: Int = 0) throws(UsageFault) {
        if let unknown = options.keys.sorted().first(where: { !names.contains($0) }) {
            throw UsageFault(detail: "there is no option --\(unknown)")
        }
        guard plain.count <= count else { throw UsageFault(detail: "\(plain[count]) is one argument too many") }
    }

    /// What the verb is to work with: the environment, over the file that `--settings` or the environment names.
    func settings() throws -> Settings {
        let environment = Environment.variables
        let path = options["settings"] ?? environment[Settings.fileVariable]
        return try Settings(environment: environment, file: path.map { path in try SettingsFile(path: path) })
    }

    func required(_ name: String) throws(UsageFault) -> String {
        guard let value = options[name] else { throw UsageFault(detail: "--\(name) is needed") }
        return value
    }
}

/// Standard output for answers, standard error for everything else.
enum Output {
    static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    static func note(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    static func fail(_ text: String, status: Int32 = 1) -> Int32 {
        note("enfilade: \(text)")
        return status
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
