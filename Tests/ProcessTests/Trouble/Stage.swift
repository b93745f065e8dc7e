import TestKit
import Testing

/// A server with a PostgreSQL of its own, under a steady stream of sends, reads and event streams.
struct Stage: Sendable {
    static let metricsToken = "metrics-token-of-the-tests"

    let postgres: PrivatePostgres
    let server: ServerProcess
    let cast: Cast
    let senders: [Sender]
    /// Messages accepted, sender by sender.
    let accepted: [Counter]
    let readers: [Reader]
    let receivers: [Receiver]

    /// Runs the body while everybody is at it, then brings all to an end and checks that nothing was lost.
    static func with(
        settings: String = "", walDirectory: String? = nil, prepare: (PrivatePostgres) async throws -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        let scratch = try Scratch()
        let postgres = try await PrivatePostgres.make(in: scratch, settings: settings, walDirectory: walDirectory)
        try await prepare(postgres)
        let server = try await postgres.launch([
            "ENFILADE_METRICS_TOKEN_FILE": scratch.write(Stage.metricsToken, to: "metrics")
        ])
        try await server.started()
        let stage = try await Stage(postgres, server)
        try await withThrowingTaskGroup { group in
            for sender in stage.senders { group.addTask { await sender.run() } }
            for reader in stage.readers { group.addTask { await reader.run() } }
            for receiver in stage.receivers { group.addTask { await receiver.run() } }
            do {
                try await body(stage)
                try await stage.finish()
            } catch {
                stage.stop()
                throw error
            }
            try await group.waitForAll()
        }
        let sent = Set(stage.senders.flatMap(\.figures.answered))
        for receiver in stage.receivers { receiver.figures.check(against: sent) }
        #expect(await server.stop() == .status(0))
    }

    private init(_ postgres: PrivatePostgres, _ server: ServerProcess) async throws {
        let cast = try await Cast.enrol(on: server, senders: 3, receivers: [1, 1])
        let accepted = cast.senders.map { _ in Counter() }
        self.postgres = postgres
        self.server = server
        self.cast = cast
        self.accepted = accepted
        senders = zip(cast.senders, accepted).map { Sender($0, to: cast.addresses, counting: $1) }
        readers = [
            Reader(cast.receivers[0].owner.at(server), of: "/v1/mailbox?limit=5"),
            Reader(cast.receivers[1].owner.at(server), of: "/v1/session"),
            Reader(cast.admin.at(server), of: "/v1/accounts?limit=5"),
        ]
        receivers = cast.receivers.map(Receiver.init)
    }

    private func finish() async throws {
        for sender in senders { sender.stop() }
        for sender in senders { try await sender.ended.reach(1, within: .seconds(30)) }
        for receiver in receivers {
            let page = try await receiver.device.owner.get("/v1/mailbox?limit=1")
            try await receiver.progress.reach(#require(page["head"]?.number), within: .seconds(30))
        }
        stop()
    }

    private func stop() {
        for sender in senders { sender.stop() }
        for receiver in receivers { receiver.stop() }
        for reader in readers { reader.stop() }
    }
}

extension Stage {
    /// What must be true of one trouble, besides that nothing is lost.
    struct Terms {
        /// Somebody was told to come back later.
        var isFelt = true
        /// The longest that anybody may wait for an answer, whatever it says.
        var patience = Duration.seconds(6)
        /// From the end of the trouble until each sender, reader and stream has what it wants.
        var comesBack = Duration.seconds(5)
    }

    /// Lets one trouble happen, from a steady stream to a steady stream, and tells what it cost.
    func meet(_ name: String, _ terms: Terms = Terms(), _ trouble: () async throws -> Void) async throws {
        for counter in accepted { try await counter.reach(counter.value + 10, within: .seconds(30)) }
        let before = Toll(of: self)
        forgetSlowest()
        try await trouble()
        let back = try await comeBack()
        let (lost, toll) = (try await missing(), Toll(of: self) - before)
        print("trouble: \(name): \(toll), lost \(lost); \(back)")
        #expect(lost == 0, "\(name)")
        #expect(toll.other == 0, "\(name)")
        #expect(!terms.isFelt || toll.unavailable > 0, "\(name): the stream did meet the trouble")
        #expect(toll.slowest <= terms.patience, "\(name)")
        #expect(back.longest <= terms.comesBack, "\(name)")
    }

    private func comeBack() async throws -> Return {
        let began = ContinuousClock.now
        async let sends = all(accepted.map { ($0, $0.value + 1) }, since: began)
        async let reads = all(readers.map { ($0.found, $0.found.value + 1) }, since: began)
        async let streams = all(receivers.map { ($0.progress, $0.progress.value + 1) }, since: began)
        return try await Return(sends: sends, reads: reads, streams: streams)
    }

    private func all(_ goals: [(Counter, Int)], since began: ContinuousClock.Instant) async throws -> Duration {
        for (counter, goal) in goals { try await counter.reach(goal, within: .seconds(30)) }
        return ContinuousClock.now - began
    }

    /// How many of the messages answered so far do not arrive.
    private func missing() async throws -> Int {
        let answered = senders.map { Set($0.figures.answered) }.reduce(Set()) { $0.union($1) }
        var missing = 0
        for receiver in receivers {
            var rest = answered
            let end = ContinuousClock.now + .seconds(10)
            repeat {
                rest = answered.subtracting(receiver.figures.deliveries.map(\.id))
                if !rest.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            } while !rest.isEmpty && ContinuousClock.now < end
            missing += rest.count
        }
        return missing
    }

    private func forgetSlowest() {
        for sender in senders { sender.forgetSlowest() }
        for reader in readers { reader.forgetSlowest() }
    }
}

/// How long it took until everybody had what they wanted again.
struct Return: CustomStringConvertible {
    let sends: Duration
    let reads: Duration
    let streams: Duration

    var longest: Duration { max(sends, reads, streams) }
    var description: String {
        "back: sends after \(sends.milliseconds) ms, reads \(reads.milliseconds), streams \(streams.milliseconds)"
    }
}

/// What requests came to, sends and reads together.
struct Toll: CustomStringConvertible {
    var sent = 0
    var accepted = 0
    var repeats = 0
    var asked = 0
    var found = 0
    var unavailable = 0
    var unanswered = 0
    var other = 0
    var slowest = Duration.zero

    init(of stage: Stage) {
        for figures in stage.senders.map(\.figures) {
            accepted += figures.answered.count
            repeats += figures.repeats
            unavailable += figures.unavailable
            unanswered += figures.unknown
            sent += figures.answered.count + figures.unavailable + figures.unknown
            slowest = max(slowest, figures.slowest)
        }
        for figures in stage.readers.map(\.figures) {
            let strange = figures.other.values.reduce(0, +)
            found += figures.found
            unavailable += figures.unavailable
            unanswered += figures.unanswered
            other += strange
            asked += figures.found + figures.unavailable + figures.unanswered + strange
            slowest = max(slowest, figures.slowest)
        }
    }

    static func - (later: Toll, earlier: Toll) -> Toll {
        var toll = later
        toll.sent -= earlier.sent
        toll.accepted -= earlier.accepted
        toll.repeats -= earlier.repeats
        toll.asked -= earlier.asked
        toll.found -= earlier.found
        toll.unavailable -= earlier.unavailable
        toll.unanswered -= earlier.unanswered
        toll.other -= earlier.other
        return toll
    }

    var description: String {
        "sent \(sent): 2xx \(accepted) (\(repeats) as already sent); read \(asked): 2xx \(found); 503 \(unavailable), "
            + "unanswered \(unanswered), other \(other); slowest \(slowest.milliseconds) ms"
    }
}
