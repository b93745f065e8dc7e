internal import Glibc

/// Runs a program to its end and keeps what it printed.
struct Command {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    let arguments: [String]
    private let environment: [String]
    // A server started from a test must not see what the test run happens to have in its environment.
    private static let plain = [
        "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/tmp",
    ]

    init(_ arguments: [String], environment: [String: String] = [:]) {
        self.arguments = arguments
        self.environment = Command.plain.merging(environment) { $1 }.map { "\($0)=\($1)" }
    }

    /// Returns standard output and error together; throws when the program cannot be started or fails.
    @discardableResult
    func run() throws -> String {
        let (ours, theirs) = try Command.channel()
        defer { close(ours) }
        let process: pid_t
        do {
            defer { close(theirs) }
            process = try spawn(input: nil, output: theirs, errors: theirs)
        }
        let output = Command.readAll(from: ours)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else {
            throw Fault(description: "\(arguments.joined(separator: " ")) failed (\(status)): \(output)")
        }
        return output
    }

    /// Starts the program and leaves it; its standard input ends when this process does, however it ends.
    func leave() throws {
        let (ours, theirs) = try Command.channel()
        defer { close(theirs) }
        do {
            _ = try spawn(input: theirs, output: nil, errors: nil)
        } catch {
            close(ours)
            throw error
        }
    }

    /// Starts the program with these descriptors, or nothing, as its standard ones; whoever calls reaps it.
    func spawn(input: Int32?, output: Int32?, errors: Int32?) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Command.redirect(0, to: input, in: &actions)
        Command.redirect(1, to: output, in: &actions)
        Command.redirect(2, to: errors, in: &actions)
        let pointers = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var process = pid_t()
        let code = posix_spawnp(&process, arguments[0], &actions, nil, pointers, variables)
        guard code == 0 else { throw Fault(description: "\(arguments[0]) cannot be started (\(code))") }
        return process
    }

    private static func redirect(_ stream: Int32, to other: Int32?, in actions: inout posix_spawn_file_actions_t) {
        if let other {
            posix_spawn_file_actions_adddup2(&actions, other, stream)
        } else {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
    }

    // A pair of sockets, because they close on exec from the start and a pipe of Glibc's module does not.
    static func channel() throws -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw Fault(description: "no sockets left") }
        return (pair[0], pair[1])
    }

    static func readAll(from descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
