import Glibc
import Lanes

/// The program that was built, run as an operator runs it.
package enum Binary {
    package struct Outcome: Sendable {
        package let exit: Exit
        package let output: String
        package let errors: String

        /// Standard error, line by line.
        package var complaints: [String] { errors.split(separator: "\n").map(String.init) }
    }

    package enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)

        init(waitStatus: Int32) {
            self = waitStatus & 0x7F == 0 ? .status((waitStatus >> 8) & 0xFF) : .signal(waitStatus & 0x7F)
        }
    }

    /// `ENFILADE_BINARY`, else the one that was built beside these tests.
    package static let path: String = {
        if let given = getenv("ENFILADE_BINARY") { return String(cString: given) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
        return own.prefix(own.lastIndex(of: "/").map { own.distance(from: own.startIndex, to: $0) } ?? 0) + "/enfilade"
    }()

    /// Processes are made by a thread that lives as long as the tests: they end when the thread that made them does.
    static let maker = Lane(name: "processes")

    static func command(_ arguments: [String], _ environment: [String: String]) -> Command {
        Command(["setpriv", "--pdeathsig", "KILL", path] + arguments, environment: environment)
    }

    /// The server with its standard input as the listening socket that a supervisor passes on.
    static func activated(_ environment: [String: String]) -> Command {
        let script = "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" serve 3<&0 </dev/null"
        return Command(["setpriv", "--pdeathsig", "KILL", "sh", "-c", script, path], environment: environment)
    }

    /// Runs a verb to its end.
    package static func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Outcome {
        let (process, output, errors) = try await maker.run { () throws -> (pid_t, Int32, Int32) in
            let (output, theirOutput) = try Command.channel()
            let (errors, theirErrors) = try Command.channel()
            defer {
                close(theirOutput)
                close(theirErrors)
            }
            let command = command(arguments, environment)
            return (try command.spawn(input: nil, output: theirOutput, errors: theirErrors), output, errors)
        }
        async let written = read(output)
        async let complained = read(errors)
        let (text, complaints) = await (written, complained)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return Outcome(exit: Exit(waitStatus: status), output: text, errors: complaints)
    }

    private static func read(_ descriptor: Int32) async -> String {
        await Lane(name: "output").run {
            defer { close(descriptor) }
            return Command.readAll(from: descriptor)
        }
    }
}
