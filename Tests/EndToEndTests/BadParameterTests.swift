import Crypto
import TestKit
import Testing
import Wire

/// What is wrong outside of bodies: paths, queries, headers, forms.
@Suite struct BadParameterTests {
    private static let lists = [
        "/v1/accounts", "/v1/apps", "/v1/sessions", "/v1/devices", "/v1/mailbox", "/v1/audit/entries",
        "/v1/apps/notes/config/revisions", "/v1/apps/notes/config/reports",
    ]

    @Test("Limits, positions and parameters that a list does not have are refused by name")
    func lists() async throws {
        try await TestServer.with { server in
            let admin = try await Cast.gather(on: server).admin.owner
            let before = try await Snapshot.of(server)
            for list in Self.lists {
                for limit in [
                    "0", "-1", "201", "1.5", "1e1", "+5", "0x10", "", "all", "99999999999999999999", "%31%30%",
                    String(repeating: "0", count: 16) + "7",
                ] {
                    let answer = try await admin.get("\(list)?limit=\(limit)")
                    #expect(answer.status == 400, "\(list)?limit=\(limit): \(answer.text)")
                    if limit.last != "%" { #expect(answer.pointers == ["?limit"], "\(answer.text)") }
                }
                for after in [
                    "!!", "%F0%9F%98%80", "a b", "-1", String(repeating: "A", count: 600), "%22",
                    String(repeating: "0", count: 513),
                ] {
                    let answer = try await admin.get("\(list)?after=\(after.replacing(" ", with: "%20"))")
                    #expect(answer.status == 400 && answer.pointers == ["?after"], "\(list) \(after): \(answer.text)")
                }
                let unknown = try await admin.get("\(list)?offset=10")
                #expect(unknown.status == 400 && unknown.pointers == ["?offset"], "\(list): \(unknown.text)")
                let twice = try await admin.get("\(list)?limit=1&limit=2")
                #expect(twice.status == 400 && twice.pointers == ["?limit"], "\(list): \(twice.text)")
                for target in ["\(list)?after=%00", "\(list)?after=%FF", "\(list)?after=%4", "\(list)%00", "\(list)/%"]
                {
                    #expect(try await admin.get(target).status == 400, "\(target)")
                }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("No route under /v1 takes a query parameter that it does not have")
    func unknownParameters() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines where line.pattern.hasPrefix("/v1") {
                let who: Who = line.status(for: .member) < 300 ? .member : .admin
                var call = try await Requests.call(line, cast, for: who)
                let before = try await Snapshot.of(server)
                call.target += call.target.contains("?") ? "&colour=blue" : "?colour=blue"
                let answer = try await cast.send(call, by: who)
                #expect(answer.status == 400 && answer.pointers == ["?colour"], "\(line.name): \(answer.text)")
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(line.name)")
            }
        }
    }

    @Test(
        "Filters and other parameters with values they cannot have are refused by name",
        arguments: [
            ("/v1/audit/entries?outcome=maybe", "outcome"), ("/v1/audit/entries?from=yesterday", "from"),
            ("/v1/audit/entries?to=2026-13-01T00:00:00Z", "to"), ("/v1/audit/entries?action=", "action"),
            ("/v1/audit/entries?action=*", "action"), ("/v1/audit/entries?action=a..b", "action"),
            ("/v1/audit/entries?action=%25", "action"), ("/v1/audit/entries?actor=", "actor"),
            ("/v1/audit/entries?target=a%20b", "target"), ("/v1/audit/entries?after=i999999", "after"),
            ("/v1/apps/notes/config/reports?state=maybe", "state"),
            ("/v1/apps/notes/config/reports?revision=-1", "revision"),
            ("/v1/config?minRevision=x", "minRevision"), ("/v1/config?minRevision=9007199254740992", "minRevision"),
            ("/v1/directory", "username"), ("/v1/directory?username=", "username"),
            ("/v1/directory?username=%25", "username"), ("/v1/directory?username=a%20b", "username"),
            ("/v1/mailbox?after=9223372036854775808", "after"), ("/v1/mailbox?after=1.0", "after"),
            ("/v1/accounts/00000000-0000-0000-0000-000000000000/devices?all=yes", "all"),
        ])
    func filters(target: String, name: String) async throws {
        let (admin, _) = try await Shared.server.people()
        let answer = try await admin.owner.get(target)
        #expect(answer.status == 400 && answer.pointers == ["?\(name)"], "\(answer.status) \(answer.text)")
    }

    @Test("Ids that cannot exist are not found, whatever they are made of")
    func ids() async throws {
        try await TestServer.with { server in
            let admin = try await Cast.gather(on: server).admin.owner
            let before = try await Snapshot.of(server)
            for id in [
                "x", "0", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
                "00000000-0000-0000-0000-00000000000g", "%7B00000000-0000-0000-0000-000000000000%7D", "%7Bdevice%7D",
                "'--", "%27%20OR%201=1", "00000000000000000000000000000000", "%C3%A9", "self", "-1", "1;", "NULL",
                "00000000-0000-0000-0000-000000000000",
            ] {
                for target in Self.targets(id) {
                    let words = target.split(separator: " ", maxSplits: 1).map(String.init)
                    let answer = try await admin.call(words[0], words[1], headers: [("If-Match", "*")])
                    #expect(
                        answer.status == 404 && answer.problem == "/problems/not-found", "\(target): \(answer.text)")
                }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    private static func targets(_ id: String) -> [String] {
        [
            "GET /v1/devices/\(id)", "DELETE /v1/devices/\(id)", "GET /v1/accounts/\(id)", "DELETE /v1/sessions/\(id)",
            "GET /v1/accounts/\(id)/devices", "GET /v1/apps/\(id)", "DELETE /v1/apps/\(id)",
            "GET /v1/apps/\(id)/config", "GET /v1/apps/\(id)/config/revisions", "GET /v1/apps/\(id)/config/reports",
            "GET /v1/apps/notes/config/revisions/\(id)",
        ]
    }

    @Test("A UUID is taken in any case, and compared as bytes")
    func upperCase() async throws {
        let (admin, member) = try await Shared.server.people()
        let id = member.id.description.uppercased()
        let answer = try await admin.owner.get("/v1/devices/\(id)")
        #expect(answer.status == 200)
        #expect(answer["id"]?.text == member.id.description)
    }

    @Test("Cursors of another device, another list and of nobody's making are refused by name")
    func cursors() async throws {
        let (admin, member) = try await Shared.server.people()
        let foreign = try #require(try await member.owner.get("/v1/mailbox")["next"]?.text)
        let mailbox = try await admin.owner.get("/v1/mailbox?after=\(foreign)")
        #expect(mailbox.status == 400 && mailbox.pointers == ["?after"], "\(mailbox.text)")
        let stream = try await EventReader.open(member.owner)
        let id = try await stream.next("ready").lastEventID
        stream.close()
        for cursor in [id, foreign, "x", "AQ==", String(repeating: "A", count: 700), "AQAAAAAAAAAAAAAAAAAAAAAA"] {
            for target in ["/v1/events", "/v1/events?lastEventId=\(cursor)"] {
                let headers = target.contains("?") ? [] : [("Last-Event-ID", cursor)]
                let answer = try await admin.owner.get(target, headers: headers)
                #expect(answer.status == 400 && answer.pointers == ["Last-Event-ID"], "\(cursor): \(answer.text)")
            }
        }
        let sessions = try await admin.owner.get("/v1/devices?after=\(foreign)")
        #expect(sessions.status == 400 && sessions.pointers == ["?after"])
    }

    @Test("A condition that makes no sense is never met")
    func conditions() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let before = try await Snapshot.of(server)
            for value in ["", "1", "\"0\"", "W/\"1\"", "\"1", "'1'", "\"1\"x", "**", "é"] {
                let answer = try await cast.admin.owner.call(
                    "PATCH", "/v1/accounts/\(cast.member.owner.account)", ["displayName": "X"],
                    headers: [("If-Match", value)])
                #expect(answer.status == 412, "\(value): \(answer.text)")
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }
}

/// One server for tests that leave nothing behind.
enum Shared {
    static let server = Shared.Server()

    actor Server {
        private var made: Task<Cast, any Error>?

        /// The administrator and Ada, each with a device.
        func people() async throws -> (admin: EnrolledDevice, member: EnrolledDevice) {
            let cast = try await cast()
            return (cast.admin, cast.member)
        }

        func cast() async throws -> Cast {
            if let made { return try await made.value }
            let task = Task { try await Cast.gather(on: TestServer.start()) }
            made = task
            return try await task.value
        }
    }
}
