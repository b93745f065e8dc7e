import Crypto
import TestKit
import Testing
import Wire

@Suite struct SessionTests {
    @Test("A session is shown to itself, with an ETag that answers 304")
    func current() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let shown = try await admin.get("/v1/session")
            #expect(shown["account"]?["username"]?.text == "admin")
            #expect(shown["app"]?["id"]?.text == "enfilade-cli")
            #expect(shown["device"] == nil)
            let tag = try #require(shown.header("ETag"))
            #expect(try await admin.get("/v1/session", headers: [("If-None-Match", tag)]).status == 304)
        }
    }

    @Test("Sessions are listed newest first, page by page, and only one's own")
    func list() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            _ = try await server.makePerson("ada", by: admin)
            let other = try await server.signIn("ada", app: "enfilade-cli")
            var sessions: [SignedIn] = [admin]
            for _ in 0..<4 { sessions.append(try await server.signInAdmin()) }
            var listed: [String] = []
            var target = "/v1/sessions?limit=2"
            while true {
                let page = try await admin.get(target)
                listed += page["items"]?.items?.compactMap { $0["sid"]?.text } ?? []
                guard let next = page["next"]?.text else { break }
                target = "/v1/sessions?limit=2&after=\(next)"
            }
            #expect(listed == sessions.reversed().map { $0.session.description })
            #expect(!listed.contains(other.session.description))
            #expect(try await admin.get("/v1/sessions?after=x").status == 400)
        }
    }

    @Test("One's own session can be ended, an administrator ends anybody's, others' do not exist")
    func ending() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            _ = try await server.makePerson("ada", by: admin)
            let ada = try await server.signIn("ada", app: "enfilade-cli")
            let again = try await server.signIn("ada", app: "enfilade-cli")
            #expect(try await ada.call("DELETE", "/v1/sessions/\(admin.session)").status == 404)
            #expect(try await ada.call("DELETE", "/v1/sessions/\(again.session)").status == 204)
            #expect(try await ada.call("DELETE", "/v1/sessions/\(again.session)").status == 404)
            #expect(try await again.get("/v1/session").problem == "/problems/session-ended")
            #expect(try await admin.call("DELETE", "/v1/sessions/\(ada.session)").status == 204)
            #expect(try await ada.get("/v1/session").problem == "/problems/session-ended")
            let reasons = try await server.sql(
                "SELECT ended_because FROM session WHERE ended_at IS NOT NULL ORDER BY ended_at")
            #expect(reasons.contains("signed-out") && reasons.contains("ended-by-administrator"))
        }
    }

    @Test("A session that was ended in the database alone is refused within two seconds")
    func watched() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            #expect(try await admin.get("/v1/sessions").status == 200)
            _ = try await server.sql("UPDATE session SET ended_at = clock_timestamp(), ended_because = 'signed-out'")
            let deadline = ContinuousClock.now + .seconds(2)
            var status = 200
            while status == 200, ContinuousClock.now < deadline { status = try await admin.get("/v1/sessions").status }
            #expect(status == 401)
        }
    }

    @Test("An expired, a forged and a foreign token are refused, and so is none")
    func tokens() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            #expect(try await server.session(nil).status == 401)
            #expect(try await server.session("x.y.z").problem == "/problems/unauthenticated")
            let parts = admin.accessToken.split(separator: ".")
            let foreign = JWS.sign(
                type: "at+jwt", payload: Base64URL.decode(String(parts[1])) ?? [], key: SigningKey.generate())
            #expect(try await server.session(foreign).problem == "/problems/unauthenticated")
            server.clock.advance(by: .seconds(601))
            let expired = try await server.session(admin.accessToken)
            #expect(expired.problem == "/problems/unauthenticated")
            #expect(expired.header("WWW-Authenticate")?.contains("invalid_token") == true)
        }
    }
}
