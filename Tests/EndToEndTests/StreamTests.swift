import Application
import TestKit
import Testing
import Wire

@Suite("Event streams of a whole server")
struct StreamTests {
    @Test("A stream that its client left is forgotten, with the mailbox it followed", .timeLimit(.minutes(5)))
    func forgotten() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for _ in 0..<3 {
                let stream = try await EventReader.open(cast.member.owner)
                _ = try await stream.next("ready")
                #expect(try await server.metric("enfilade_mailbox_watched") == 1)
                stream.close()
                try await until("the stream is gone") { try await server.metric("enfilade_streams") == 0 }
                try await until("its mailbox is forgotten") { try await server.metric("enfilade_mailbox_watched") == 0 }
            }
        }
    }

    @Test("A device has four streams, and a fifth when one of them is closed", .timeLimit(.minutes(5)))
    func bounded() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            var streams: [EventReader] = []
            for _ in 0..<4 { streams.append(try await EventReader.open(cast.member.owner)) }
            let refused = try await cast.member.owner.get("/v1/events")
            #expect(refused.status == 429)
            #expect(refused.problem == "/problems/rate-limited")
            #expect(refused.header("Retry-After") != nil)
            streams.removeLast().close()
            try await until("the closed stream is gone") { try await server.metric("enfilade_streams") == 3 }
            _ = try await EventReader.open(cast.member.owner).next("ready")
        }
    }

    @Test("A backlog far larger than what may wait for a stream arrives whole and in order", .timeLimit(.minutes(5)))
    func backlog() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            // About 2 MiB of events, where 64 KiB may wait for one stream.
            let text = String(repeating: "0123456789abcdef", count: 700)
            for _ in 0..<150 { #expect(try await cast.other.send(text, to: cast.member).status == 201) }
            let stream = try await EventReader.open(cast.member.owner)
            for seq in 1...150 {
                let event = try await stream.next()
                #expect(event.event == "message")
                #expect(try JSON.parse(Array(event.text.utf8))["seq"]?.integer == Int64(seq))
            }
            #expect(try await stream.next().event == "ready")
            #expect(try await cast.other.send("live", to: cast.member).status == 201)
            #expect(try JSON.parse(Array(try await stream.next().text.utf8))["seq"]?.integer == 151)
        }
    }
}

extension TestServer {
    /// A gauge or counter without labels, as `/metrics` shows it.
    fileprivate func metric(_ name: String) async throws -> Double? {
        let token = try #require(settings.metricsToken)
        let page = try await client.send("GET", "/metrics", headers: [("Authorization", "Bearer \(token)")])
        let line = page.text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
