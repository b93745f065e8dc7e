import Glibc
import TestKit
import Testing
import Wire

@Suite struct TwoNodesTests {
    private struct Nodes {
        let first: ServerProcess
        let second: ServerProcess
        let cast: Cast

        /// One person's device at the first node, another's at the second.
        var sender: EnrolledDevice { cast.senders[0] }
        var receiver: EnrolledDevice { cast.receivers[0].at(second) }
    }

    private func withNodes(_ body: (Nodes) async throws -> Void) async throws {
        let database = try await Template.shared.copy()
        let first = try await ServerProcess.start(on: database)
        let second = try await ServerProcess.start(on: database)
        let cast = try await Cast.enrol(on: first, senders: 1, receivers: [1])
        try await body(Nodes(first: first, second: second, cast: cast))
        await first.stop()
        await second.stop()
        try await Template.drop(database)
    }

    @Test("A message sent through one node arrives on a stream of the other within a second", .timeLimit(.minutes(5)))
    func delivery() async throws {
        try await withNodes { nodes in
            let reader = try await EventReader.open(nodes.receiver.owner)
            _ = try await reader.next("ready")
            var delays: [Duration] = []
            for number in 0..<50 {
                let began = ContinuousClock.now
                async let arrival = reader.next("message")
                let answer = try await nodes.sender.send("message \(number)", to: nodes.receiver)
                #expect(answer.status == 201)
                let event = try await arrival
                delays.append(ContinuousClock.now - began)
                #expect(try JSON.parse(event.data)["id"]?.text == answer["id"]?.text)
            }
            reader.close()
            delays.sort()
            print(
                """
                node to node, 50 messages: median \(delays[25].milliseconds) ms, p90 \(delays[45].milliseconds) ms, \
                slowest \(delays[49].milliseconds) ms from the request to the event
                """)
            #expect(delays[49] <= .seconds(1))
        }
    }

    @Test(
        "When one node is killed its clients resume on the other and get exactly what they missed",
        .timeLimit(.minutes(5)))
    func resuming() async throws {
        try await withNodes { nodes in
            let atFirst = nodes.cast.receivers[0]
            let reader = try await EventReader.open(atFirst.owner)
            _ = try await reader.next("ready")
            #expect(try await nodes.sender.send("seen", to: atFirst).status == 201)
            let seen = try await reader.next("message")
            nodes.first.kill(SIGKILL)
            #expect(await nodes.first.exit() == .signal(SIGKILL))
            await #expect(throws: (any Error).self) { _ = try await reader.next() }
            var missed: [String?] = []
            for number in 0..<5 {
                let answer = try await nodes.sender.at(nodes.second).send("missed \(number)", to: atFirst)
                #expect(answer.status == 201)
                missed.append(answer["id"]?.text)
            }
            let resumed = try await EventReader.open(nodes.receiver.owner, after: seen.lastEventID)
            var events: [String] = []
            var got: [String?] = []
            while events.last != "ready" {
                let event = try await resumed.next()
                events.append(event.event)
                if event.event == "message" { got.append(try JSON.parse(event.data)["id"]?.text) }
            }
            #expect(got == missed)
            #expect(events == Array(repeating: "message", count: 5) + ["ready"])
            #expect(try await nodes.sender.at(nodes.second).send("live", to: atFirst).status == 201)
            #expect(try JSON.parse(await resumed.next("message").data)["seq"]?.number == 7)
            resumed.close()
        }
    }

    @Test(
        "A session ended through one node is refused by the other, and its stream there ends, within two seconds",
        .timeLimit(.minutes(5)))
    func endedSession() async throws {
        try await withNodes { nodes in
            let reader = try await EventReader.open(nodes.receiver.owner)
            _ = try await reader.next("ready")
            #expect(try await nodes.receiver.owner.get("/v1/session").status == 200)
            let began = ContinuousClock.now
            async let last = Self.rest(of: reader)
            let path = "/v1/sessions/\(nodes.receiver.owner.session)"
            #expect(try await nodes.cast.receivers[0].owner.call("DELETE", path).status == 204)
            var answer = try await nodes.receiver.owner.get("/v1/session")
            while answer.status == 200, ContinuousClock.now - began < .seconds(5) {
                answer = try await nodes.receiver.owner.get("/v1/session")
            }
            let refused = ContinuousClock.now - began
            let (events, ended) = await last
            #expect(answer.status == 401)
            #expect(answer["type"]?.text == "/problems/session-ended")
            #expect(events.last?.event == "session")
            #expect(events.last?.text == #"{"state":"ended"}"#)
            print(
                "ended at one node: refused by the other after \(refused.milliseconds) ms, "
                    + "its stream over after \((ended - began).milliseconds) ms")
            #expect(refused <= .seconds(2))
            #expect(ended - began <= .seconds(2))
        }
    }

    /// What comes until the stream ends, and when it did.
    private static func rest(of reader: EventReader) async -> ([EventReader.Event], ContinuousClock.Instant) {
        var events: [EventReader.Event] = []
        while let event = try? await reader.next() { events.append(event) }
        return (events, ContinuousClock.now)
    }
}
