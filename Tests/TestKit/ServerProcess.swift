import Application
import Domain
import Glibc
import Lanes
import Synchronization
import Wire

/// A whole server in a process of its own, as it is run for real; it never outlives the tests.
package final class ServerProcess: Site {
    package let database: String
    package let issuer: String
    /// The machine's clock: the process has no other.
    package let clock = ManualClock(SystemClock())
    package let log: ProcessLog
    private let listening = Atomic(0)
    private let process: ProcessHandle
    private let answered = Mutex<[Client.Answer]>([])

    private init(database: String, issuer: String, process: ProcessHandle, log: ProcessLog) {
        self.database = database
        self.issuer = issuer
        self.process = process
        self.log = log
    }

    deinit { process.end(SIGKILL) }

    /// 0 until `started`.
    package var port: Int { listening.load(ordering: .relaxed) }

    /// All answers that clients made here have got.
    package var answers: [Client.Answer] { answered.withLock { $0 } }

    package func makeClient() -> Client {
        Client(port: port) { [weak self] answer in
            self?.answered.withLock { $0.append(answer) }
        }
    }

    /// Starts a server on a database of the shared cluster and returns once it serves.
    package static func start(
        on database: String, port: Int = 0, _ changes: [String: String] = [:]
    ) async throws -> ServerProcess {
        var environment = try Template.environment(for: database)
        if port != 0 { environment["ENFILADE_LISTEN"] = "127.0.0.1:\(port)" }
        let server = try await launch(environment.merging(changes) { $1 }, database: database)
        try await server.started()
        return server
    }

    /// Starts the program with exactly this environment and does not wait for it.
    ///
    /// With a socket, which already listens, it is passed on as systemd passes on that of a socket unit.
    package static func launch(
        _ environment: [String: String], database: String, socket: Int32? = nil
    ) async throws -> ServerProcess {
        let log = ProcessLog()
        let process = try await Binary.maker.run { () throws -> ProcessHandle in
            let (ours, theirs) = try Command.channel()
            defer { close(theirs) }
            do {
                let command =
                    socket == nil ? Binary.command(["serve"], environment) : Binary.activated(environment)
                let process = try command.spawn(input: socket, output: nil, errors: theirs)
                return ProcessHandle(process, errors: ours, log: log)
            } catch {
                close(ours)
                throw error
            }
        }
        return ServerProcess(
            database: database, issuer: environment["ENFILADE_PUBLIC_URL"] ?? "", process: process, log: log)
    }

    /// Returns once the process says that it serves; its port is known then.
    package func started(within limit: Duration = .seconds(30)) async throws {
        let line = try await log.event("started", within: limit)
        let port = line["address"]?.text?.split(separator: ":").last.flatMap { Int($0) }
        listening.store(port ?? 0, ordering: .relaxed)
    }

    package func kill(_ signal: Int32) { process.end(signal) }

    /// How the process ended, once it has; killed when it takes longer.
    package func exit(within limit: Duration = .seconds(30)) async -> Binary.Exit {
        let timer = Task { [process] in
            try await Task.sleep(for: limit)
            process.end(SIGKILL)
        }
        defer { timer.cancel() }
        return await process.exit()
    }

    /// Stops as an operator does.
    @discardableResult
    package func stop() async -> Binary.Exit {
        kill(SIGTERM)
        return await exit()
    }

    /// A port that nobody uses and that the system gives to no one who connects.
    package static func freePort() -> Int {
        while true {
            let port = Int.random(in: 10_000...29_999)
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if bound == 0 { return port }
        }
    }
}

/// A process that is reaped whatever happens, and signalled only while it is there.
final class ProcessHandle: Sendable {
    private struct State {
        var exit: Binary.Exit?
        var waiting: [CheckedContinuation<Binary.Exit, Never>] = []
    }

    private let id: pid_t
    private let state = Mutex(State())

    init(_ id: pid_t, errors: Int32, log: ProcessLog) {
        self.id = id
        let lane = Lane(name: "server-process")
        lane.post { [self] in
            log.read(errors)
            reap()
            // Held until here: a lane ends with its last reference.
            withExtendedLifetime(lane) {}
        }
    }

    func end(_ signal: Int32) {
        state.withLock { if $0.exit == nil { _ = Glibc.kill(id, signal) } }
    }

    func exit() async -> Binary.Exit {
        await withCheckedContinuation { continuation in
            let exit = state.withLock { state in
                if state.exit == nil { state.waiting.append(continuation) }
                return state.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }

    private func reap() {
        // Seen first and reaped under the lock, so that no signal reaches whoever gets the number next.
        var seen = siginfo_t()
        while waitid(P_PID, id_t(id), &seen, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        let (exit, waiting) = state.withLock { state -> (Binary.Exit, [CheckedContinuation<Binary.Exit, Never>]) in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0 && errno == EINTR {}
            let exit = Binary.Exit(waitStatus: status)
            state.exit = exit
            defer { state.waiting = [] }
            return (exit, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: exit) }
    }
}
