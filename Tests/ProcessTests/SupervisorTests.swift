import Application
import Glibc
import TestKit
import Testing

/// The program under systemd, or whatever else starts it as systemd does.
@Suite struct SupervisorTests {
    @Test("It says when it serves, that it is well, and when it stops", .timeLimit(.minutes(5)))
    func notifications() async throws {
        let scratch = try Scratch()
        let ear = try Ear(at: scratch.path + "/notify")
        let database = try await Template.shared.copy()
        let server = try await ServerProcess.start(
            on: database, ["NOTIFY_SOCKET": ear.path, "WATCHDOG_USEC": "200000"])
        var words = try await ear.next()
        #expect(words.contains("READY=1"))
        for _ in 0..<2 {
            words = try await ear.next()
            #expect(words == ["WATCHDOG=1"])
        }
        server.kill(SIGTERM)
        while words == ["WATCHDOG=1"] { words = try await ear.next() }
        #expect(words.contains("STOPPING=1"))
        #expect(await server.exit() == .status(0))
        try await Template.drop(database)
    }

    @Test(
        "Restarted on a socket that somebody else holds, it refuses nobody: who comes in between waits",
        .timeLimit(.minutes(5)))
    func restart() async throws {
        let socket = try ListeningSocket()
        let database = try await Template.shared.copy()
        let environment = try Template.environment(for: database)
        func launch() async throws -> ServerProcess {
            try await ServerProcess.launch(environment, database: database, socket: socket.descriptor)
        }
        let first = try await launch()
        try await first.started()
        #expect(first.port == socket.port)
        #expect(try await first.makeClient().send("GET", "/readyz").status == 200)
        #expect(await first.stop() == .status(0))
        let waiting = try await blocking {
            let client = try RawClient(port: socket.port)
            try client.send("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client
        }
        let second = try await launch()
        #expect(try await blocking { try waiting.answer().status } == 200)
        #expect(await second.stop() == .status(0))
        try await Template.drop(database)
    }

    @Test("A socket meant for another process is left alone; more than one is refused", .timeLimit(.minutes(5)))
    func otherSockets() async throws {
        let database = try await Template.shared.copy()
        let server = try await ServerProcess.start(on: database, ["LISTEN_FDS": "1", "LISTEN_PID": "1"])
        #expect(try await server.makeClient().send("GET", "/healthz").status == 200)
        #expect(await server.stop() == .status(0))
        #expect(throws: Supervisor.Fault.self) {
            try Supervisor(environment: ["LISTEN_FDS": "2", "LISTEN_PID": "7"], process: 7)
        }
        try await Template.drop(database)
    }
}

/// A supervisor's end of the notifications.
private final class Ear: Sendable {
    let path: String
    private let descriptor: Int32

    init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw TestServer.Fault("no socket at \(path): \(errno)") }
        var time = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The lines of the next notification.
    func next() async throws -> [String] {
        try await blocking { [descriptor] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw TestServer.Fault("no notification came") }
            return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }
}
