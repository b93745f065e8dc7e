import Application
import Crypto
import Domain
import TestKit
import Testing
import Wire

@Suite("What a mailbox had no room or time for, as REST and event streams tell of it")
struct GapTests {
    @Test("More items than a mailbox holds are a gap `trimmed`", .timeLimit(.minutes(5)))
    func items() async throws {
        try await TestServer.with({ $0.mailboxItems = 5 }) { server in
            let cast = try await Cast.gather(on: server)
            for number in 1...9 { #expect(try await cast.other.send("\(number)", to: cast.member).status == 201) }
            try await expect(trimmedThrough: 4, of: 9, by: cast)
        }
    }

    @Test("More bytes than a mailbox holds are a gap `trimmed` after the next sweep", .timeLimit(.minutes(5)))
    func bytes() async throws {
        let change = { (settings: inout Settings) in
            settings.ciphertextBytes = 1_000
            settings.mailboxBytes = 3_000
        }
        try await TestServer.with(change) { server in
            let cast = try await Cast.gather(on: server)
            let text = String(repeating: "x", count: 900)
            for _ in 1...9 { #expect(try await cast.other.send(text, to: cast.member).status == 201) }
            // It may come by in the middle of the nine, and then once more.
            try await until("the sweeper has trimmed") {
                try await cast.member.owner.get("/v1/mailbox")["gaps"]?.items?.first?["to"]?.integer == 6
            }
            try await expect(trimmedThrough: 6, of: 9, by: cast)
        }
    }

    @Test("What outlived its time is a gap `expired`", .timeLimit(.minutes(5)))
    func days() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let soon = server.clock.now() + .seconds(60)
            for number in 1...3 {
                let body = cast.other.message(
                    SystemEntropy().uuid(at: server.clock.now()), to: [(cast.member.owner.account, [cast.member.id])],
                    text: "\(number)", more: number < 3 ? [("expiresAt", .string(soon.rfc3339))] : [])
                #expect(try await cast.other.owner.call("POST", "/v1/messages", body).status == 201)
            }
            server.clock.advance(by: .seconds(61))
            try await expect(1, through: 2, of: 3, because: "expired", by: cast)
        }
    }

    private func expect(trimmedThrough last: Int64, of head: Int64, by cast: Cast) async throws {
        try await expect(1, through: last, of: head, because: "trimmed", by: cast)
    }

    /// The gap, then everything behind it, on both ways.
    private func expect(
        _ first: Int64, through last: Int64, of head: Int64, because reason: String, by cast: Cast
    ) async throws {
        let page = try await cast.member.owner.get("/v1/mailbox")
        let gap: JSON = [
            "from": .number(JSON.Number(first)), "to": .number(JSON.Number(last)), "reason": .string(reason),
        ]
        #expect(page["gaps"] == .array([gap]))
        #expect(page["items"]?.items?.compactMap { $0["seq"]?.integer } == Array((last + 1)...head))
        let stream = try await EventReader.open(cast.member.owner)
        let event = try await stream.next()
        #expect(event.event == "gap")
        #expect(try JSON.parse(event.data) == gap)
        #expect(!event.lastEventID.isEmpty, "a stream that resumes does not hear of it again")
        for seq in (last + 1)...head {
            let event = try await stream.next()
            #expect(event.event == "message")
            #expect(try JSON.parse(event.data)["seq"]?.integer == seq)
        }
        #expect(try await stream.next().event == "ready")
        stream.close()
        let resumed = try await EventReader.open(cast.member.owner, after: event.lastEventID)
        #expect(try await resumed.next().event == "message")
        resumed.close()
    }
}
