import TestKit
import Testing
import Wire

/// Idempotency keys, conditional requests, and what every route does by HTTP itself.
@Suite struct ConditionTests {
    private static let creating = ["POST /v1/accounts", "POST /v1/apps", "POST /v1/apps/{app}/config/rollbacks"]

    @Test(
        "A POST with an Idempotency-Key makes one thing however often it comes, also at once; another body is refused")
    func idempotency() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for name in Self.creating {
                var call = try await Requests.call(Matrix.line(name), cast, for: .admin)
                call.headers.append(("Idempotency-Key", freshName()))
                let answers = try await withThrowingTaskGroup(of: Client.Answer.self) { group in
                    for _ in 0..<4 {
                        group.addTask { [call] in
                            let headers = call.headers + cast.authorization(of: .admin)
                            return try await Client(port: server.port).send(
                                call.method, call.target, headers: headers, body: call.bytes)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let first = try #require(answers.first)
                for answer in answers {
                    #expect(answer.status == 201, "\(name): \(answer.text)")
                    #expect(answer.body == first.body)
                    for header in ["ETag", "Location", "Content-Type"] {
                        #expect(answer.header(header) == first.header(header) && answer.header(header) != nil)
                    }
                }
                try await expectMadeOnce(call, cast)
            }
        }
    }

    private func expectMadeOnce(_ call: Call, _ cast: Cast) async throws {
        let before = try await Snapshot.of(cast.server)
        #expect(try await cast.send(call, by: .admin).status == 201)
        var other = call
        let field = call.json?["reason"] == nil ? (call.json?["name"] == nil ? "displayName" : "name") : "reason"
        other.json = call.json?.with(field, "Something else")
        let refused = try await cast.send(other, by: .admin)
        #expect(refused.status == 422)
        #expect(refused.problem == "/problems/idempotency-key-reused")
        #expect(try await Snapshot.of(cast.server).changes(since: before) == [])
    }

    @Test("A key is kept for a day, for one account; a refusal is not kept, and no key keeps a password")
    func keys() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            _ = try await server.makePerson("second", role: "admin", by: admin)
            let other = try await server.signIn(
                "second", password: "second-password", app: "enfilade-cli", scope: "offline_access admin")
            func create(_ name: String, _ key: String, by session: SignedIn) async throws -> Client.Answer {
                try await session.call(
                    "POST", "/v1/accounts",
                    ["username": .string(name), "displayName": "X", "password": "never to be kept"],
                    headers: [("Idempotency-Key", key)])
            }
            #expect(try await create("second", "k1", by: admin).status == 409)
            #expect(try await create("third", "k1", by: admin).status == 201)
            #expect(try await create("third", "k1", by: other).status == 409)
            for key in ["", " ", "a b", "é", String(repeating: "k", count: 256)] {
                let answer = try await create("fourth", key, by: admin)
                #expect(answer.status == 400, "\(key)")
                #expect(answer.pointers == ["Idempotency-Key"], "\(answer.text)")
            }
            #expect(try await server.sql("SELECT count(*) FROM account WHERE username = 'fourth'") == "0\n")
            let kept = try await server.sql("SELECT t::text, encode(body, 'escape') FROM idempotency t")
            #expect(kept.contains("third") && !kept.contains("never"))
            let token = try #require(admin.refreshToken)
            server.clock.advance(by: .seconds(86_401))
            var later = admin
            let form = FormCoding.encode([
                ("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "enfilade-cli"),
            ])
            let refreshed = try await server.client.post(form: form, to: "/oauth2/token")
            later.accessToken = try #require(refreshed["access_token"]?.text, "\(refreshed.text)")
            #expect(try await create("third", "k1", by: later).problem == "/problems/username-taken")
        }
    }

    @Test("Administrators' writes need If-Match, and one of another version changes nothing")
    func ifMatch() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for name in [
                "PATCH /v1/accounts/{account}", "PUT /v1/apps/{app}", "DELETE /v1/apps/{app}",
                "PUT /v1/apps/{app}/config", "POST /v1/apps/{app}/config/rollbacks",
            ] {
                var call = try await Requests.call(Matrix.line(name), cast, for: .admin)
                let before = try await Snapshot.of(server)
                call.headers.removeAll { $0.0 == "If-Match" }
                let without = try await cast.send(call, by: .admin)
                #expect(without.status == 428, "\(name): \(without.text)")
                #expect(without.problem == "/problems/precondition-required")
                call.headers.append(("If-Match", "\"4711\""))
                let outdated = try await cast.send(call, by: .admin)
                #expect(outdated.status == 412, "\(name): \(outdated.text)")
                #expect(outdated.problem == "/problems/precondition-failed")
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(name)")
            }
            for method in ["PATCH", "DELETE"] {
                let answer = try await cast.member.owner.call(
                    method, "/v1/devices/\(cast.member.id)", method == "PATCH" ? ["name": "X"] : nil,
                    headers: [("If-Match", "\"4711\"")])
                #expect(answer.status == 412, "\(answer.text)")
            }
        }
    }

    @Test("Of two who change what both have read, the second is told so")
    func lostUpdate() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let admin = cast.admin.owner
            let resources: [(target: String, method: String, one: JSON, two: JSON)] = [
                ("/v1/accounts/\(cast.other.owner.account)", "PATCH", ["displayName": "B"], ["displayName": "C"]),
                (
                    "/v1/apps/\(Cast.app)/config", "PUT", ["values": ["a": 1], "reason": "x"],
                    ["values": ["a": 2], "reason": "y"]
                ),
                ("/v1/devices/\(cast.admin.id)", "PATCH", ["name": "B"], ["name": "C"]),
            ]
            for (target, method, one, two) in resources {
                let tag = try #require(try await admin.get(target).header("ETag"))
                let first = try await admin.call(method, target, one, headers: [("If-Match", tag)])
                #expect(first.status == 200, "\(target): \(first.text)")
                #expect(first.header("ETag") != tag)
                #expect(try await admin.call(method, target, two, headers: [("If-Match", tag)]).status == 412)
                let next = try #require(first.header("ETag"))
                let list = "\"zzz\", \(next)"
                #expect(try await admin.call(method, target, two, headers: [("If-Match", list)]).status == 200)
            }
        }
    }

    @Test("What has an ETag answers 304 to who holds it, and in full to who holds another")
    func notModified() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            var tagged: [String] = []
            for line in Matrix.lines where line.method == "GET" && line.pattern != "/v1/events" {
                var call = try await Requests.call(line, cast, for: .admin)
                let full = try await cast.send(call, by: .admin)
                guard let tag = full.header("ETag") else { continue }
                tagged.append(line.pattern)
                call.headers.append(("If-None-Match", ""))
                for (value, status) in [
                    (tag, 304), ("W/\(tag)", 304), ("\"x\", \(tag)", 304), ("*", 304), ("\"x\"", 200), ("", 200),
                    ("W/\"x\"", 200),
                ] {
                    call.headers[call.headers.count - 1].1 = value
                    let answer = try await cast.send(call, by: .admin)
                    #expect(answer.status == status, "\(line.name) \(value)")
                    #expect(answer.header("ETag") == tag, "\(line.name) \(value)")
                    #expect(answer.body == (status == 304 ? [] : full.body), "\(line.name) \(value)")
                }
            }
            // Every resource that can be read by its own address.
            let resources: Set<String> = [
                "/v1/session", "/v1/accounts/{account}", "/v1/accounts/{account}/devices", "/v1/apps/{app}",
                "/v1/devices/{device}", "/v1/config", "/v1/apps/{app}/config",
                "/v1/apps/{app}/config/revisions/{revision}", "/openapi.yaml",
            ]
            #expect(resources.subtracting(tagged) == [])
        }
    }
}
