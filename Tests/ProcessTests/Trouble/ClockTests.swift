import Glibc
import TestKit
import Testing
import Wire

/// The clock of the server's process is set while it runs; PostgreSQL, the tests and the machine keep theirs.
@Suite(.serialized) struct ClockTests {
    private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
    /// The library also moves timers of clocks that it was told to leave alone: one armed while the clock is an hour behind
    /// would go off an hour late, which no clock that is set does.
    private static let timers = """
        #include <sys/syscall.h>
        #include <sys/timerfd.h>
        #include <unistd.h>

        int timerfd_settime(int timer, int flags, const struct itimerspec *next, struct itimerspec *last) {
            return syscall(SYS_timerfd_settime, timer, flags, next, last);
        }

        int timerfd_gettime(int timer, struct itimerspec *next) {
            return syscall(SYS_timerfd_gettime, timer, next);
        }

        """

    @Test(
        "A clock set ahead or back by an hour, and right again, loses nothing and locks nobody out",
        .timeLimit(.minutes(5)))
    func stepped() async throws {
        guard access(Self.library, R_OK) == 0 else {
            return print("trouble: clock stepped: skipped, Debian's package libfaketime is not installed")
        }
        let scratch = try Scratch()
        let postgres = try await PrivatePostgres.make(in: scratch)
        let file = try scratch.write("+0\n", to: "time")
        let timers = "\(scratch.path)/timers.so"
        let source = try scratch.write(Self.timers, to: "timers.c")
        try await blocking { try buildPreload(source, as: timers) }
        let server = try await postgres.launch([
            "LD_PRELOAD": "\(timers):\(Self.library)", "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        ])
        try await server.started()
        let scene = try await Scene(server)
        try await withThrowingTaskGroup { group in
            for sender in scene.senders { group.addTask { await sender.send(to: scene.cast.addresses) } }
            group.addTask { await scene.receiver.listen() }
            defer { scene.stop() }
            try await scene.workOn()
            for (hours, way) in [(1, "ahead of"), (-1, "behind")] {
                try await scene.meet("clock set by \(hours) h", isOff: "\(way) the database's") { time in
                    _ = try scratch.write("\(time == .off ? "\(hours > 0 ? "+" : "")\(hours)h" : "+0")\n", to: "time")
                }
            }
            try await scene.finish()
            scene.stop()
            try await group.waitForAll()
        }
        scene.check()
        #expect(await server.stop() == .status(0))
    }

    /// Who is there while the clock jumps.
    private struct Scene: Sendable {
        enum Time { case off, right }

        let server: ServerProcess
        let cast: Cast
        let senders: [Visitor]
        let receiver: Visitor

        init(_ server: ServerProcess) async throws {
            self.server = server
            cast = try await Cast.enrol(on: server, senders: 2, receivers: [1])
            senders = cast.senders.map(Visitor.init)
            receiver = Visitor(cast.receivers[0])
        }

        /// Everybody gets something done; how long that took.
        @discardableResult
        func workOn() async throws -> Duration {
            let began = ContinuousClock.now
            let goals = senders.map { ($0.served, $0.served.value + 20) }
            let arrived = receiver.progress.value + 10
            for (counter, goal) in goals { try await counter.reach(goal, within: .seconds(30)) }
            try await receiver.progress.reach(arrived, within: .seconds(30))
            return ContinuousClock.now - began
        }

        func meet(_ name: String, isOff words: String, _ set: (Time) throws -> Void) async throws {
            let before = senders.map(\.figures)
            let recoveries = told("recovered").count
            try set(.off)
            let off = try await workOn()
            try await until("no proxy sends here") {
                try await server.makeClient().send("GET", "/readyz").status == 503
            }
            try await until("the log says so") { told("faltered").contains { $0.contains(words) } }
            // For longer than ended sessions may be unheard of: every timer is armed by the wrong clock, and has to go off.
            try await Task.sleep(for: .seconds(4))
            // Too many wrong passwords, by the wrong clock.
            for _ in 0..<8 { _ = try? await signIn("receiver0", password: "wrong") }
            try set(.right)
            let back = try await workOn()
            let rightAgain = ContinuousClock.now
            try await until("it is ready again", within: .seconds(5)) {
                try await server.makeClient().send("GET", "/readyz").status == 200
            }
            let readyAfter = ContinuousClock.now - rightAgain
            try await until("the log says that it is over") { told("recovered").count > recoveries }
            try await until("the one with the wrong passwords is let in", within: .seconds(20)) {
                (try? await signIn("receiver0", password: "receiver0-password")) != nil
            }
            tell(name, before, off, back, readyAfter)
        }

        private func tell(
            _ name: String, _ before: [Visitor.Figures], _ off: Duration, _ back: Duration, _ ready: Duration
        ) {
            let pairs = zip(before, senders.map(\.figures))
            let sum = { (of: (Visitor.Figures) -> Int) in pairs.map { of($1) - of($0) }.reduce(0, +) }
            let (refused, renewed, other) =
                (sum(\.refused), sum(\.renewed), sum { $0.other.values.reduce(0, +) })
            print(
                "trouble: \(name): sent 2xx \(sum(\.accepted.count)), 401 \(refused), tokens renewed \(renewed), "
                    + "503 \(sum(\.unavailable)), other \(other); "
                    + "all at work after \(off.milliseconds) ms; "
                    + "back: after \(back.milliseconds) ms, ready \(ready.milliseconds) ms later")
            #expect(refused >= senders.count && renewed >= senders.count, "\(name): tokens of another hour are refused")
            #expect(other == 0, "\(name)")
            #expect(off <= .seconds(8) && back <= .seconds(5), "\(name)")
        }

        private func signIn(_ username: String, password: String) async throws -> SignedIn {
            try await server.signIn(username, password: password, app: "chat")
        }

        /// What the log told of the clock.
        private func told(_ event: String) -> [String] {
            server.log.entries.filter { $0["task"]?.text == "clock" && $0["event"]?.text == event }
                .map { $0["cause"]?.text ?? "" }
        }

        func finish() async throws {
            for sender in senders { sender.stop() }
            for sender in senders { try await sender.ended.reach(1, within: .seconds(30)) }
            let sent = senders.map(\.figures.accepted.count).reduce(0, +)
            try await receiver.progress.reach(sent, within: .seconds(30))
        }

        func stop() {
            for visitor in senders + [receiver] { visitor.stop() }
        }

        /// Everything accepted arrived once, in order, without holes.
        func check() {
            let sent = senders.reduce(into: Set<String>()) { $0.formUnion($1.figures.accepted) }
            let received = receiver.received
            print("trouble: clock set: lost \(sent.subtracting(received.map(\.id)).count) of \(sent.count)")
            #expect(Set(received.map(\.id)) == sent)
            #expect(received.map(\.seq) == Array(1...max(sent.count, 1)))
        }
    }
}
