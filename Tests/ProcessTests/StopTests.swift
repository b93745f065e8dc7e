import Glibc
import Lanes
import TestKit
import Testing
import Wire

@Suite struct StopTests {
    private static let limit = 32
    private static let lane = Lane(name: "crowd")

    @Test("Three times as many connections as are accepted at once are all answered", .timeLimit(.minutes(5)))
    func crowd() async throws {
        try await withServer { server, cast in
            let token = cast.admin.accessToken
            let port = server.port
            let statuses = try await Self.lane.run { () throws -> [Int] in
                let crowd = try (0..<3 * Self.limit).map { _ in try RawClient(port: port, timeout: 20) }
                for client in crowd { try client.send(Self.get("/v1/session", token, "Connection: close\r\n")) }
                return try crowd.map { client in
                    let answer = try client.answer()
                    client.close()
                    return answer.status
                }
            }
            #expect(statuses == Array(repeating: 200, count: 3 * Self.limit))
            #expect(await server.stop() == .status(0))
        }
    }

    @Test(
        "Stopped under three times the accept limit, the server finishes, says goodbye, and resets nobody",
        .timeLimit(.minutes(5)))
    func stopUnderLoad() async throws {
        try await withServer { server, cast in
            var streams: [EventReader] = []
            for receiver in cast.receivers { streams.append(try await EventReader.open(receiver.owner)) }
            for stream in streams { _ = try await stream.next("ready") }
            let halves = try await Self.beginMessages(cast, count: 8, port: server.port)
            let crowd = try await Self.gather(server.port, cast.admin.accessToken)
            let began = ContinuousClock.now
            server.kill(SIGTERM)
            _ = try await server.log.event("draining")
            let readiness = try await Self.lane.run { () throws -> Int in try Self.readiness(of: crowd[0]) }
            #expect(readiness == 503)
            for stream in streams {
                #expect(try await stream.next().event == "goodbye")
                await #expect(throws: EventReader.Ended.self) { _ = try await stream.next() }
            }
            let finished = try await Self.lane.run { () throws -> [Int] in try halves.map { try $0.finish() } }
            #expect(finished == Array(repeating: 201, count: 8))
            let statuses = await Self.lane.run { crowd.dropFirst().map(Self.status) }
            #expect(await server.exit(within: .seconds(15)) == .status(0))
            let took = ContinuousClock.now - began
            #expect(took <= .seconds(10))
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
            #expect(server.log.entries.last?["event"]?.text == "stopped")
            let counts = Dictionary(grouping: statuses) { $0 }.mapValues(\.count).sorted { $0.key < $1.key }
            print(
                "stopped under \(3 * Self.limit) connections (limit \(Self.limit)) in \(took.milliseconds) ms: "
                    + "8 of 8 requests in flight answered 201, \(streams.count) goodbyes, of the others "
                    + counts.map { "\($0.value) answered \($0.key)" }.joined(separator: ", "))
        }
    }

    private func withServer(_ body: (ServerProcess, Cast) async throws -> Void) async throws {
        let database = try await Template.shared.copy()
        let server = try await ServerProcess.start(on: database, ["ENFILADE_CONNECTIONS": "\(Self.limit)"])
        let cast = try await Cast.enrol(on: server, senders: 1, receivers: [2, 1])
        try await body(server, cast)
        await server.stop()
        try await Template.drop(database)
    }

    private static func get(_ target: String, _ token: String, _ more: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n\(more)\r\n"
    }

    /// A request of which half of the body was sent.
    private struct Half: Sendable {
        let client: RawClient
        let rest: [UInt8]

        func finish() throws -> Int {
            try client.send(rest)
            return try client.answer().status
        }
    }

    /// Begins messages until each is known to be under way: the server has asked for the body.
    private static func beginMessages(_ cast: Cast, count: Int, port: Int) async throws -> [Half] {
        let sender = cast.senders[0]
        let bodies = (0..<count).map { number in
            let id = UUID(high: 0x0193_0000_0000_7000, low: 0x8000_0000_0000_0000 + UInt64(number))
            return sender.message(id, to: cast.addresses, text: "half \(number)").encoded()
        }
        return try await lane.run { () throws -> [Half] in
            try bodies.map { body in
                let client = try RawClient(port: port, timeout: 20)
                let head =
                    "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    + "Authorization: Bearer \(sender.owner.accessToken)\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.count)\r\nExpect: 100-continue\r\n\r\n"
                try client.send(head)
                guard try client.answer().status == 100 else { throw TestServer.Fault("no 100") }
                try client.send(Array(body[..<(body.count / 2)]))
                return Half(client: client, rest: Array(body[(body.count / 2)...]))
            }
        }
    }

    /// Opens three times the limit, with a request on each that is answered only to whoever was accepted.
    private static func gather(_ port: Int, _ token: String) async throws -> [RawClient] {
        try await lane.run { () throws -> [RawClient] in
            let first = try RawClient(port: port, timeout: 20)
            try first.send(get("/v1/session", token))
            guard try first.answer().status == 200 else { throw TestServer.Fault("the first is not answered") }
            let others = try (1..<3 * limit).map { _ in try RawClient(port: port, timeout: 20) }
            for client in others { try client.send(get("/v1/session", token)) }
            return [first] + others
        }
    }

    /// Asks on a connection that is kept, until the server says that it stops.
    private static func readiness(of client: RawClient) throws -> Int {
        while true {
            try client.send("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            let status = try client.answer().status
            guard status == 200 else { return status }
        }
    }

    /// The answer to the request that was sent; -1 when the connection ended without one.
    private static func status(of client: RawClient) -> Int {
        defer { client.close() }
        guard let answer = try? client.answer() else { return -1 }
        return answer.status
    }
}
