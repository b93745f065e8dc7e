import Glibc
import TestKit
import Testing

@Suite struct KilledTests {
    private static let kills = 30

    @Test(
        "Killed thirty times under a stream of sends, the server delivers each answered message exactly once, in order",
        .timeLimit(.minutes(5)))
    func killed() async throws {
        let database = try await Template.shared.copy()
        let port = ServerProcess.freePort()
        let server = try await ServerProcess.start(on: database, port: port)
        let cast = try await Cast.enrol(on: server, senders: 4, receivers: [2, 1])
        let answered = Counter()
        let senders = cast.senders.map { Sender($0, to: cast.addresses, counting: answered) }
        let receivers = cast.receivers.map(Receiver.init)
        let began = ContinuousClock.now
        let last = try await withThrowingTaskGroup { group in
            for sender in senders { group.addTask { await sender.run() } }
            for receiver in receivers { group.addTask { await receiver.run() } }
            let last = try await Self.kill(server, again: { try await ServerProcess.start(on: database, port: port) }) {
                try await answered.reach(answered.value + Int.random(in: 1...150), within: .seconds(30))
            }
            try await Self.finish(senders, receivers, answered)
            try await group.waitForAll()
            return last
        }
        let took = ContinuousClock.now - began
        let outcomes = senders.map(\.figures)
        let sent = Set(outcomes.flatMap(\.answered))
        for receiver in receivers { receiver.figures.check(against: sent) }
        Self.tell(outcomes, receivers.map(\.figures), took)
        #expect(await last.stop() == .status(0))
        try await Template.drop(database)
    }

    private static func kill(
        _ first: ServerProcess, again start: () async throws -> ServerProcess, when isTime: () async throws -> Void
    ) async throws -> ServerProcess {
        var server = first
        for _ in 0..<kills {
            try await isTime()
            server.kill(SIGKILL)
            #expect(await server.exit() == .signal(SIGKILL))
            server = try await start()
        }
        try await isTime()
        return server
    }

    /// Ends the sending, waits until each mailbox has been read to its head, and ends the reading.
    private static func finish(_ senders: [Sender], _ receivers: [Receiver], _ answered: Counter) async throws {
        for sender in senders { sender.stop() }
        // All answers are in once nobody sends: each sender stops behind an answer.
        for sender in senders { try await sender.ended.reach(1, within: .seconds(30)) }
        for receiver in receivers {
            let page = try await receiver.device.owner.get("/v1/mailbox?limit=1")
            let head = try #require(page["head"]?.number)
            try await receiver.progress.reach(head, within: .seconds(30))
            receiver.stop()
        }
    }

    private static func tell(_ outcomes: [Sender.Figures], _ readings: [Receiver.Figures], _ took: Duration) {
        let deliveries = readings.map(\.deliveries.count).reduce(0, +)
        let distinct = readings.map(\.distinct.count).reduce(0, +)
        print(
            """
            killed \(kills) times in \(took.milliseconds) ms: \
            \(outcomes.map(\.answered.count).reduce(0, +)) messages answered by \(outcomes.count) senders, \
            \(outcomes.map(\.unknown).reduce(0, +)) attempts without an answer, \
            \(outcomes.map(\.repeats).reduce(0, +)) answered as already sent, \
            \(outcomes.map(\.unavailable).reduce(0, +)) answered 503; \
            \(readings.map(\.streams).reduce(0, +)) streams of \(readings.count) devices, \
            \(deliveries) deliveries of \(distinct), \(deliveries - distinct) twice
            """)
    }
}
