import Application
import Dispatch
import Domain
import Glibc
import Postgres
import Synchronization
import TestKit
import Testing
import Wire

/// Lines that are full: who comes then is told so at once, and who is in them is still served.
@Suite struct OverloadTests {
    /// Holds a table against everybody until it is let go.
    private final class Hold: Sendable {
        private let pool: Pool
        private let end = DispatchSemaphore(value: 0)
        private let task = Mutex<Task<Void, any Error>?>(nil)

        init(_ table: SQL, of server: TestServer) async throws {
            var settings = Pool.Settings(
                conninfo: try PostgresCluster.shared.conninfo(database: server.database, role: .owner))
            settings.lanes = 1
            pool = Pool(settings)
            pool.start()
            let (began, begin) = AsyncStream.makeStream(of: Bool.self)
            let end = end
            let held = Task {
                try await pool.lend { connection in
                    do throws(PostgresError) {
                        try connection.begin()
                        try connection.execute("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE")
                        begin.yield(true)
                        _ = end.wait(timeout: .now() + 60)
                    } catch {
                        begin.yield(false)
                    }
                    connection.rollback()
                }
            }
            task.withLock { $0 = held }
            for await isHeld in began {
                #expect(isHeld)
                break
            }
        }

        func letGo() async throws {
            end.signal()
            try await task.withLock { $0 }?.value
            await pool.stop()
        }
    }

    /// A server whose lines are short, yet longer than a crowded machine holds up whoever comes next, and whose locks wait for
    /// as long as a test needs.
    private static func hasty(_ settings: inout Settings) {
        settings.longestWait = 500
        settings.statementTimeout = 60_000
        settings.lockTimeout = 60_000
    }

    private func waiting(in queue: String, of server: TestServer) async throws -> Int {
        let page = try await server.makeClient().send(
            "GET", "/metrics", headers: [("Authorization", "Bearer \(server.settings.metricsToken ?? "")")])
        let name = "enfilade_queue_waiting{queue=\"\(queue)\"} "
        let line = page.text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? -1
    }

    /// Waits until that many stand in line and the first has stood there for longer than the line may take.
    private func fill(_ queue: String, of server: TestServer, with count: Int) async throws {
        try await until("\(count) wait for \(queue)") { try await waiting(in: queue, of: server) >= count }
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(server.settings.longestWait * 2) { await Task.yield() }
    }

    private func expectRefusal(_ answer: Client.Answer) {
        #expect(answer.status == 503)
        #expect(answer.problem == "/problems/unavailable")
        #expect(answer.header("Retry-After").flatMap(Int.init).map((1...3).contains) == true)
    }

    @Test("With every lane taken who comes is refused at once, the node stays ready, and who waits is served")
    func database() async throws {
        try await TestServer.with(Self.hasty) { server in
            let admin = try await server.signInAdmin()
            let hold = try await Hold("account", of: server)
            let lanes = server.settings.lanes
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<lanes + 1 {
                    let client = server.makeClient()
                    let headers = [("Authorization", "Bearer \(admin.accessToken)")]
                    group.addTask { try await client.send("GET", "/v1/accounts", headers: headers).status }
                }
                try await fill("database", of: server, with: 1)
                for _ in 0..<3 {
                    let start = ContinuousClock.now
                    expectRefusal(try await admin.get("/v1/accounts"))
                    // One that waited first would take five seconds.
                    #expect(ContinuousClock.now - start < .seconds(2))
                }
                for path in ["/readyz", "/healthz"] {
                    // A node may be unsure for a moment, when this whole process was held up; it has to become sure again.
                    try await until("\(path) 200") { try await server.makeClient().send("GET", path).status == 200 }
                }
                try await hold.letGo()
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await admin.get("/v1/accounts").status == 200)
            let refusals = server.observations.filter { observation in
                guard case .turnedAway(from: .database) = observation else { return false }
                return true
            }
            #expect(refusals.count == 3)
        }
    }

    @Test(
        "With every lane taken for longer than ended sessions may be unheard of, the node stays ready and sure of tokens"
    )
    func reserve() async throws {
        try await TestServer.with(Self.hasty) { server in
            let admin = try await server.signInAdmin()
            let hold = try await Hold("account", of: server)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<server.settings.lanes {
                    let client = server.makeClient()
                    let headers = [("Authorization", "Bearer \(admin.accessToken)")]
                    group.addTask { try await client.send("GET", "/v1/accounts", headers: headers).status }
                }
                try await until("every lane waits for the lock") {
                    try await blocked(on: server) >= server.settings.lanes
                }
                let start = ContinuousClock.now
                while ContinuousClock.now - start < .milliseconds(2_500) { await Task.yield() }
                try await until("ready") { try await server.makeClient().send("GET", "/readyz").status == 200 }
                // Judged without a lane: the parameter is missing, or the scope.
                let judged = try await admin.get("/v1/directory").status
                #expect([400, 403].contains(judged))
                try await hold.letGo()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test("The log tells of those who were turned away together, at most once in ten seconds")
    func log() async throws {
        let lines = try await blocking {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw TestServer.Fault("no pipe") }
            let clock = ManualClock(SystemClock())
            clock.stop()
            let log = Log(descriptor: ends[1], clock: clock)
            for _ in 0..<100 { log.note(.turnedAway(from: .passwords)) }
            clock.advance(by: .seconds(11))
            log.note(.turnedAway(from: .passwords))
            log.note(.turnedAway(from: .database))
            close(ends[1])
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(ends[0], &bytes, bytes.count)
            close(ends[0])
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let told = try lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(told.map { $0["queue"]?.text } == ["passwords", "passwords", "database"])
        #expect(told.map { $0["requests"] } == [1, 100, 1])
    }

    @Test("While commits stand still who sends is refused at once, and every send in line is committed afterwards")
    func sends() async throws {
        try await TestServer.with(Self.hasty) { server in
            let cast = try await Cast.gather(on: server)
            let hold = try await Hold("mailbox_item", of: server)
            try await withThrowingTaskGroup(of: Int.self) { group in
                // Two commits are under way at a time; whoever comes after them stands in line.
                for sent in 1...3 {
                    let sender = cast.other.at(server.nearby)
                    group.addTask { try await sender.send("held", to: cast.recipient).status }
                    try await settle(sent, on: server)
                }
                try await fill("sends", of: server, with: 1)
                expectRefusal(try await cast.other.send("refused", to: cast.recipient))
                try await hold.letGo()
                for try await status in group { #expect(status == 201) }
            }
            let page = try await cast.recipient.owner.get("/v1/mailbox")
            #expect(page["items"]?.items?.count == 3)
        }
    }

    /// Waits until that many sends have reached the committer.
    private func settle(_ count: Int, on server: TestServer) async throws {
        func reached() async throws -> Int {
            try await blocked(on: server) + max(0, try await waiting(in: "sends", of: server))
        }
        try await until("\(count) sends have come to the committer") { try await reached() >= count }
    }

    /// Statements of the server that wait for a lock.
    private func blocked(on server: TestServer) async throws -> Int {
        let count = try await PostgresCluster.shared.psql(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '\(server.database)'")
        return Int(count.filter(\.isNumber)) ?? 0
    }
}

extension TestServer {
    /// The same server, for a client with a connection of its own.
    fileprivate var nearby: any Site { self }
}
