import Application
import TestKit
import Testing
import Wire

/// Values of the right type that break a field's own rule.
@Suite struct BadFieldTests {
    private static let longKey = String(repeating: "k", count: 129)

    /// Route, field, what it must not be.
    private static let rules: [(String, String, [JSON])] = [
        (
            "POST /v1/accounts", "username",
            ["", "ada lovelace", "ada@home", "ädä", "ada/", "ada%", .string(String(repeating: "a", count: 65))]
        ),
        ("POST /v1/accounts", "displayName", ["", .string(String(repeating: "é", count: 129))]),
        ("POST /v1/accounts", "role", ["", "root", "Admin", "admin "]),
        ("POST /v1/accounts", "password", ["", "seven77", .string(String(repeating: "p", count: 1_025))]),
        ("PATCH /v1/accounts/{account}", "role", ["owner"]), ("PATCH /v1/accounts/{account}", "password", ["short"]),
        (
            "POST /v1/apps", "id",
            ["", "x", "Notes", "1notes", "-notes", "no_tes", "no.tes", .string(String(repeating: "a", count: 64))]
        ),
        ("POST /v1/apps", "kind", ["", "App", "service"]),
        ("POST /v1/apps", "scopes", [["openid", "root"], ["x"], [""]]),
        ("POST /v1/apps", "teamId", ["ABCDE1234", "abcde12345", "ABCDE123456"]),
        ("POST /v1/apps", "bundleId", ["", "a..b", ".a", "a b", "a/b"]),
        ("POST /v1/apps", "parent", ["notes", "x", "No"]),
        ("POST /v1/apps", "sharingGroup", ["", "-a", ".a", "A", "a b"]),
        ("POST /v1/apps", "urlScheme", ["x", "http", "https", "1a", "a b", "A"]),
        (
            "POST /v1/apps", "redirectUris",
            [
                ["http://example.com/cb"], ["https://user@example.com/"], ["https://example.com/#x"],
                ["https://*.example.com/"],
                ["https://"], ["javascript:alert(1)"], ["data:text/html,x"], ["/callback"], ["http://localhost/"],
                ["https://a.test/", "https://a.test/"], ["https://a.test/\u{2028}"], ["https://a.test/%zz"],
            ]
        ),
        (
            "POST /v1/apps", "universalLinks",
            [["http://a.test/"], ["https://a.test/", "https://a.test/"], ["https://"]]
        ),
        ("PUT /v1/apps/{app}", "kind", ["extension"]), ("PUT /v1/apps/{app}", "parent", ["notes"]),
        ("POST /v1/devices", "platform", ["", "ios", "IOS", "Windows"]), ("POST /v1/devices", "name", [""]),
        ("PATCH /v1/devices/{device}", "name", ["", .string(String(repeating: "n", count: 129))]),
        ("PATCH /v1/devices/{device}", "osVersion", [.string(String(repeating: "n", count: 65))]),
        ("POST /v1/messages", "conversationId", ["", .string(String(repeating: "c", count: 129))]),
        ("POST /v1/messages", "recipients", [[]]), ("POST /v1/messages", "id", ["", "not-an-id"]),
        ("POST /v1/config/reports", "state", ["", "Applied", "pending"]),
        ("POST /v1/config/reports", "revision", [1, 9]),
        ("PUT /v1/apps/{app}/config", "reason", ["", .string(String(repeating: "r", count: 501))]),
        (
            "PUT /v1/apps/{app}/config", "values",
            [["a": .null], ["": 1], [longKey: 1], ["a\u{1}": 1]] as [JSON]
        ),
        ("POST /v1/apps/{app}/config/rollbacks", "revision", [0]),
    ]

    @Test("Every field's own rule is kept, in the field's name, and nothing is changed")
    func fields() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for (route, field, values) in Self.rules {
                let line = try Matrix.line(route)
                let who: Who = line.status(for: .member) < 300 ? .member : .admin
                let call = try await Requests.call(line, cast, for: who)
                let before = try await Snapshot.of(server)
                for value in values {
                    let body = call.json?.with(field, value).encoded()
                    let answer = try await cast.send(call, by: who, body: body)
                    let place = "\(route) \(field) \(value): \(answer.status) \(answer.text)"
                    #expect(answer.status == 400, "\(place)")
                    #expect(
                        answer.pointers.contains { $0 == "/\(field)" || $0.hasPrefix("/\(field)/") || field == "kind" },
                        "\(place)")
                }
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(route) \(field)")
            }
        }
    }

    @Test("An extension needs a parent that is an app, and never gets scope mailbox")
    func extensions() async throws {
        try await TestServer.with { server in
            let admin = try await Cast.gather(on: server).admin.owner
            try await server.makeApp("share", scopes: ["mailbox.read"], parent: Cast.app, by: admin)
            let body: JSON = ["id": "more", "name": "x", "kind": "extension", "redirectUris": [], "scopes": ["openid"]]
            let before = try await Snapshot.of(server)
            let cases: [(JSON, String)] = [
                (body, "/parent"), (body.with("parent", "share"), "/parent"),
                (body.with("parent", "nothing"), "/parent"),
                (body.with("parent", "notes").with("scopes", ["mailbox"]), "/scopes"),
            ]
            for (body, pointer) in cases {
                let answer = try await admin.call("POST", "/v1/apps", body)
                #expect(answer.status == 400 && answer.pointers == [pointer], "\(answer.text)")
            }
            let parent = try await admin.call("DELETE", "/v1/apps/\(Cast.app)", headers: [("If-Match", "*")])
            #expect(parent.status == 409, "\(parent.text)")
            let builtIn = try await admin.call("DELETE", "/v1/apps/enfilade-cli", headers: [("If-Match", "*")])
            #expect(builtIn.status == 409, "\(builtIn.text)")
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("Names that are taken are conflicts, and make nothing")
    func taken() async throws {
        try await TestServer.with { server in
            let admin = try await Cast.gather(on: server).admin.owner
            let before = try await Snapshot.of(server)
            for name in ["ada", "ADA"] {
                let answer = try await admin.call(
                    "POST", "/v1/accounts", ["username": .string(name), "displayName": "A"])
                #expect(answer.status == 409 && answer.problem == "/problems/username-taken", "\(answer.text)")
            }
            let app: JSON = ["id": "notes", "name": "x", "kind": "app", "redirectUris": [], "scopes": ["openid"]]
            let answer = try await admin.call("POST", "/v1/apps", app)
            #expect(answer.status == 409 && answer.problem == "/problems/app-id-taken", "\(answer.text)")
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("Values over the limit of an app's configuration are 413, and nested ones are kept as they came")
    func configuration() async throws {
        try await TestServer.with({ $0.configurationBytes = 2_048 }) { server in
            let cast = try await Cast.gather(on: server)
            let target = "/v1/apps/\(Cast.app)/config"
            func publish(_ values: JSON) async throws -> Client.Answer {
                try await cast.admin.owner.call(
                    "PUT", target, ["values": values, "reason": "x"], headers: [("If-Match", "*")])
            }
            let before = try await Snapshot.of(server)
            let large = try await publish(["long": .string(String(repeating: "x", count: 2_048))])
            #expect(large.status == 413 && large.problem == "/problems/payload-too-large", "\(large.text)")
            #expect(try await Snapshot.of(server).changes(since: before) == [])
            let values: JSON = [
                "nested": ["null": .null, "list": [1, [2, ["x": true]]]], "a/b~c": "\u{1F600} é \" \\ \u{2028}",
                "number": .number(try #require(JSON.Number(1e-7))), "big": 9_007_199_254_740_993,
            ]
            #expect(try await publish(values).status == 200)
            #expect(try await cast.admin.owner.get(target)["values"] == values)
            #expect(try await cast.member.owner.get("/v1/config?minRevision=1")["values"] == values)
        }
    }
}
