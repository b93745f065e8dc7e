import Glibc
import TestKit
import Testing
import Wire

@Suite(.serialized) struct OutageTests {
    @Test(
        "While PostgreSQL is away requests are told so at once; service returns by itself, and nothing is lost",
        .timeLimit(.minutes(5)))
    func outage() async throws {
        let scratch = try Scratch()
        let postgres = try await PrivatePostgres.make(in: scratch)
        let server = try await postgres.launch()
        try await server.started()
        let cast = try await Cast.enrol(on: server, senders: 2, receivers: [1])
        let answered = Counter()
        let senders = cast.senders.map { Sender($0, to: cast.addresses, counting: answered) }
        let receiver = Receiver(cast.receivers[0])
        try await withThrowingTaskGroup { group in
            for sender in senders { group.addTask { await sender.run() } }
            group.addTask { await receiver.run() }
            for mode in [PostgresCluster.StopMode.fast, .immediate] {
                try await answered.reach(answered.value + 50, within: .seconds(20))
                try await postgres.stop(mode)
                let slowest = try await Self.probe(server, cast)
                let back = try await Self.comeBack(postgres, server, answered)
                print(
                    "PostgreSQL away (\(mode.rawValue)): 503 within \(slowest.milliseconds) ms; "
                        + "back: ready after \(back.ready.milliseconds) ms, "
                        + "a message accepted after \(back.accepted.milliseconds) ms")
            }
            for sender in senders { sender.stop() }
            for sender in senders { try await sender.ended.reach(1, within: .seconds(20)) }
            let page = try await cast.receivers[0].owner.get("/v1/mailbox?limit=1")
            try await receiver.progress.reach(#require(page["head"]?.number), within: .seconds(20))
            receiver.stop()
            try await group.waitForAll()
        }
        let sent = Set(senders.flatMap(\.figures.answered))
        let distinct = receiver.figures.distinct
        #expect(Set(distinct.map(\.id)) == sent)
        #expect(distinct.map(\.seq) == Array(1...max(sent.count, 1)))
        #expect(receiver.figures.gaps == [])
        #expect(senders.map(\.figures.unavailable).reduce(0, +) > 0, "the senders did meet the outage")
        #expect(await server.stop() == .status(0))
    }

    /// What an outage looks like from outside; the slowest answer.
    private static func probe(_ server: ServerProcess, _ cast: Cast) async throws -> Duration {
        let client = server.makeClient()
        var slowest = Duration.zero
        for _ in 0..<5 {
            let began = ContinuousClock.now
            let read = try await cast.admin.get("/v1/accounts")
            let write = try await cast.admin.call("POST", "/v1/accounts", ["username": "eve", "displayName": "Eve"])
            let token = try await client.post(
                form: "grant_type=refresh_token&client_id=chat&refresh_token=none", to: "/oauth2/token")
            slowest = max(slowest, ContinuousClock.now - began)
            for answer in [read, write, token] {
                #expect(answer.status == 503)
                #expect(answer.header("Retry-After") != nil)
            }
            #expect(read["type"]?.text == "/problems/unavailable")
            #expect(try await client.send("GET", "/healthz").status == 200)
            let readiness = try await client.send("GET", "/readyz")
            #expect(readiness.status == 503)
            #expect(readiness.header("Retry-After") != nil)
        }
        #expect(slowest < .seconds(1), "three requests in a row")
        return slowest
    }

    private static func comeBack(
        _ postgres: PrivatePostgres, _ server: ServerProcess, _ answered: Counter
    ) async throws -> (ready: Duration, accepted: Duration) {
        let before = answered.value
        try await postgres.start()
        let began = ContinuousClock.now
        let client = server.makeClient()
        while try await client.send("GET", "/readyz").status != 200, ContinuousClock.now - began < .seconds(10) {}
        let ready = ContinuousClock.now - began
        try await answered.reach(before + 1, within: .seconds(10))
        let accepted = ContinuousClock.now - began
        #expect(ready <= .seconds(5))
        #expect(accepted <= .seconds(5))
        return (ready, accepted)
    }

    @Test(
        "Started before PostgreSQL, the server waits, says so once, and serves; SIGTERM ends the wait",
        .timeLimit(.minutes(5)))
    func earlyStart() async throws {
        let scratch = try Scratch()
        let postgres = try await PrivatePostgres.make(in: scratch)
        try await postgres.stop(.fast)
        let patient = try await postgres.launch()
        let stopped = try await postgres.launch()
        for server in [patient, stopped] { _ = try await server.log.event("faltered") { $0["task"]?.text == "start" } }
        #expect(await stopped.stop() == .status(0))
        try await postgres.start()
        let began = ContinuousClock.now
        try await patient.started(within: .seconds(10))
        print("started before PostgreSQL: serving \((ContinuousClock.now - began).milliseconds) ms after it came")
        #expect(try await patient.makeClient().send("GET", "/readyz").status == 200)
        #expect(try await patient.signInAdmin().get("/v1/accounts").status == 200)
        let told = patient.log.entries.filter { $0["task"]?.text == "start" }.compactMap { $0["event"]?.text }
        #expect(told == ["faltered", "recovered"])
        #expect(await patient.stop() == .status(0))
    }
}
