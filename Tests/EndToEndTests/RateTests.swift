import Application
import Domain
import TestKit
import Testing
import Wire

/// What is refused for being too much, and to whom.
@Suite struct RateTests {
    /// A tenth of the defaults.
    private static func strict(_ settings: inout Settings) { settings.rateLimitPercent = 10 }

    private func expectRefusal(_ answer: Client.Answer, by rate: String) {
        #expect(answer.status == 429)
        #expect(answer.problem == "/problems/rate-limited")
        #expect(answer.header("Retry-After").flatMap(Int.init) ?? 0 > 0)
        #expect(answer.header("RateLimit-Policy")?.hasPrefix("\"\(rate)\";q=") == true)
    }

    @Test("The directory's limit is told with every answer, and is each account's own")
    func directory() async throws {
        try await TestServer.with(Self.strict) { server in
            let cast = try await Cast.gather(on: server)
            server.clock.stop()
            let look = "/v1/directory?username="
            for (name, left) in [("bob", 2), ("cleo", 1), ("nobody", 0)] {
                let answer = try await cast.member.owner.get(look + name)
                #expect(answer.status == (name == "nobody" ? 404 : 200))
                #expect(answer.header("RateLimit-Policy") == "\"directory\";q=3;w=30")
                #expect(answer.header("RateLimit") == "\"directory\";r=\(left);t=\((3 - left) * 10)")
            }
            let refused = try await cast.member.owner.get(look + "bob")
            expectRefusal(refused, by: "directory")
            #expect(refused.header("Retry-After") == "10")
            #expect(try await cast.other.owner.get(look + "bob").status == 200)
            server.clock.advance(by: .seconds(10))
            #expect(try await cast.member.owner.get(look + "bob").status == 200)
            let page = try await server.client.send(
                "GET", "/metrics", headers: [("Authorization", "Bearer \(server.settings.metricsToken ?? "")")])
            #expect(page.text.contains("enfilade_rate_limited_total{rate=\"directory\"} 1\n"))
        }
    }

    @Test("One account may ask so much and no more, whatever it asks; nobody else notices")
    func requests() async throws {
        try await TestServer.with({ $0.rateLimitPercent = 5 }) { server in
            let admin = try await server.signInAdmin()
            _ = try await server.makePerson("ada", by: admin)
            let ada = try await server.signIn("ada", password: "ada-password", app: "enfilade-cli", scope: "openid")
            server.clock.stop()
            var statuses: [Int] = []
            for _ in 0..<101 { statuses.append(try await ada.get("/v1/session").status) }
            #expect(statuses.count { $0 == 200 } >= 99)
            #expect(statuses.last == 429)
            expectRefusal(try await ada.get("/v1/sessions"), by: "requests")
            #expect(try await admin.get("/v1/session").status == 200)
        }
    }

    @Test("Reports and changes of devices, which the audit log keeps for ever, are few")
    func auditFlood() async throws {
        try await TestServer.with(Self.strict) { server in
            let cast = try await Cast.gather(on: server)
            server.clock.stop()
            let reasons = JSON.array((0..<100).map { ["key": .string("key\($0)"), "code": "bad", "detail": "x"] })
            for number in 0..<3 {
                let report: JSON =
                    number % 2 == 0
                    ? ["revision": 0, "state": "rejected", "reasons": reasons] : ["revision": 0, "state": "applied"]
                #expect(try await cast.member.owner.call("POST", "/v1/config/reports", report).status == 204)
            }
            let report: JSON = ["revision": 0, "state": "applied"]
            expectRefusal(try await cast.member.owner.call("POST", "/v1/config/reports", report), by: "reports")
            let longest = try await PostgresCluster.shared.psql(
                "SELECT max(length(after)) FROM audit_entry WHERE action = 'configuration.reported'",
                database: server.database)
            #expect(Int(longest.filter(\.isNumber)) ?? .max < 1_000)
            var last = 200
            for number in 0..<4 {
                let change: JSON = ["name": .string("phone \(number)")]
                last = try await cast.member.owner.call("PATCH", "/v1/devices/\(cast.member.id)", change).status
            }
            #expect(last == 429)
        }
    }

    @Test("Nobody can push what others have sent out of a mailbox; the others still get through")
    func share() async throws {
        try await TestServer.with({
            $0.rateLimitPercent = 100
            $0.mailboxItems = 30
        }) { server in
            let cast = try await Cast.gather(on: server)
            server.clock.stop()
            #expect(try await cast.member.send("from Ada", to: cast.recipient).status == 201)
            for _ in 0..<3 { #expect(try await cast.other.send("flood", to: cast.recipient).status == 201) }
            for _ in 0..<30 {
                expectRefusal(try await cast.other.send("flood", to: cast.recipient), by: "recipient-envelopes")
            }
            #expect(try await cast.member.send("from Ada again", to: cast.recipient).status == 201)
            let page = try await cast.recipient.owner.get("/v1/mailbox")
            #expect(page["items"]?.items?.count == 5)
            #expect(page["gaps"]?.items == [])
            server.clock.advance(by: .seconds(2 * 3_600))
            let again = try await server.signIn("bob", password: "bob-password", app: Cast.app, scope: Cast.scopes)
            #expect(try await again.get("/v1/session").status == 200)
        }
    }

    @Test("Requests without a token are counted by the address they come from, where it is known")
    func places() async throws {
        try await TestServer.with({
            $0.rateLimitPercent = 1
            $0.trustedProxies = ["127.0.0.1"]
        }) { server in
            server.clock.stop()
            let here = [("X-Forwarded-For", "203.0.113.7")]
            for _ in 0..<30 {
                #expect(try await server.client.send("GET", "/oauth2/authorize", headers: here).status == 400)
            }
            let page = try await server.client.send("GET", "/oauth2/authorize", headers: here)
            #expect(page.status == 429)
            #expect(page.header("Content-Type") == "text/html; charset=utf-8")
            #expect(page.header("Retry-After") != nil)
            for path in ["/oauth2/token", "/oauth2/revoke"] {
                let answer = try await server.client.post(form: "token=x", to: path, headers: here)
                #expect(answer.status == 429)
                #expect(answer["error"]?.text == "temporarily_unavailable")
                #expect(answer.header("RateLimit-Policy") == "\"anonymous\";q=30;w=30")
            }
            let there = [("X-Forwarded-For", "203.0.113.8")]
            #expect(try await server.client.send("GET", "/oauth2/authorize", headers: there).status == 400)
            for _ in 0..<40 { #expect(try await server.client.send("GET", "/oauth2/authorize").status == 400) }
        }
    }

    @Test("The capabilities list the rates, and none when they are turned off")
    func capabilities() async throws {
        try await TestServer.with({ $0.rateLimitPercent = 100 }) { server in
            let rates = try await server.client.send("GET", "/v1/capabilities")["rates"]?.items ?? []
            #expect(rates.count == 9)
            #expect(rates.contains(["name": "directory", "per": "account", "quota": 30, "seconds": 30]))
        }
        try await TestServer.with { server in
            let capabilities = try await server.client.send("GET", "/v1/capabilities")
            #expect(capabilities["rates"]?.items == [])
        }
    }
}
