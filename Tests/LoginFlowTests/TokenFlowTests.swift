import TestKit
import Testing
import Wire

@Suite struct TokenFlowTests {
    @Test("A code that comes twice is refused, ends the session it gave, and is audited")
    func codeReuse() async throws {
        try await TestServer.with { server in
            let code = try await server.code()
            let tokens = try await server.redeem(code)
            #expect(tokens.status == 200)
            #expect(tokens.header("Cache-Control") == "no-store")
            let again = try await server.redeem(code)
            #expect(again.status == 400)
            #expect(again.error == "invalid_grant")
            let session = try await server.session(tokens["access_token"]?.text)
            #expect(session.problem == "/problems/session-ended")
            #expect(
                try await server.sql(
                    "SELECT count(*) FROM audit_entry WHERE action = 'session.authorization-code-reused'"
                )
                .contains("1"))
        }
    }

    @Test(
        "A code is good only for who asked for it",
        arguments: [
            (["code_verifier": String(repeating: "a", count: 43)], 400, "invalid_grant"),
            (["code_verifier": "short"], 400, "invalid_grant"),
            (["redirect_uri": "http://127.0.0.1:4712/callback"], 400, "invalid_grant"),
            (["client_id": "unknown-app"], 401, "invalid_client"), (["client_id": "Not An Id"], 401, "invalid_client"),
            (["client_id": ""], 400, "invalid_request"), (["code": "made-up"], 400, "invalid_grant"),
            (["code": ""], 400, "invalid_request"), (["grant_type": ""], 400, "invalid_request"),
            (["grant_type": "password"], 400, "unsupported_grant_type"),
            (["client_secret": "x"], 401, "invalid_client"),
        ])
    func badRedemption(changes: [String: String], status: Int, error: String) async throws {
        try await TestServer.with { server in
            let code = try await server.code()
            let answer = try await server.redeem(code, changes)
            #expect(answer.status == status)
            #expect(answer.error == error)
            #expect(try await server.redeem(code).status == 200)
        }
    }

    @Test("Credentials are refused, a parameter given twice too, and a code ends after a minute")
    func otherRefusals() async throws {
        try await TestServer.with { server in
            let basic = try await server.token(["grant_type": "x"], headers: [("Authorization", "Basic eDp5")])
            #expect(basic.status == 401)
            #expect(basic.header("WWW-Authenticate") != nil)
            let twice = try await server.client.post(
                form: "grant_type=refresh_token&client_id=a&client_id=b", to: "/oauth2/token")
            #expect(twice.error == "invalid_request")
            let code = try await server.code()
            server.clock.advance(by: .seconds(61))
            #expect(try await server.redeem(code).error == "invalid_grant")
        }
    }

    @Test("A lost answer is given again with the same successor, until the successor is used")
    func lostAnswer() async throws {
        try await TestServer.with { server in
            let first = try await server.signInAdmin()
            let token = try #require(first.refreshToken)
            let answer = try await server.refresh(token)
            let again = try await server.refresh(token)
            let successor = try #require(answer["refresh_token"]?.text)
            #expect(successor != token)
            #expect(again["refresh_token"]?.text == successor)
            #expect(again["id_token"] == nil)
            #expect(try await server.refresh(successor).status == 200)
            let reused = try await server.refresh(token)
            #expect(reused.error == "invalid_grant")
            #expect(try await server.session(first.accessToken).problem == "/problems/session-ended")
            #expect(try await server.refresh(successor).error == "invalid_grant")
            #expect(
                try await server.sql("SELECT count(*) FROM audit_entry WHERE action = 'session.refresh-token-reused'")
                    .contains("1"))
        }
    }

    @Test("After a minute a token that was exchanged is taken for stolen; only its own session ends")
    func lateReuse() async throws {
        try await TestServer.with { server in
            let other = try await server.signInAdmin()
            let victim = try await server.signInAdmin()
            let token = try #require(victim.refreshToken)
            let successor = try #require(try await server.refresh(token)["refresh_token"]?.text)
            server.clock.advance(by: .seconds(61))
            #expect(try await server.refresh(token).error == "invalid_grant")
            #expect(try await server.refresh(successor).error == "invalid_grant")
            #expect(try await server.refresh(#require(other.refreshToken)).status == 200)
        }
    }

    @Test("Many refreshes at once all get the same successor")
    func race() async throws {
        try await TestServer.with { server in
            let token = try #require(try await server.signInAdmin().refreshToken)
            let successors = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        let form = FormCoding.encode([
                            ("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "enfilade-cli"),
                        ])
                        let answer = try await Client(port: server.port).post(form: form, to: "/oauth2/token")
                        return answer["refresh_token"]?.text ?? answer.text
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(successors.count == 1)
        }
    }

    @Test("A refresh may narrow its token, not widen it; a foreign client gets nothing")
    func narrowing() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            try await server.makeApp("other", by: admin)
            let token = try #require(try await server.signInAdmin(scope: "offline_access mailbox config").refreshToken)
            #expect(try await server.refresh(token, ["scope": "mailbox admin"]).error == "invalid_scope")
            #expect(try await server.refresh(token, ["client_id": "other"]).error == "invalid_grant")
            let narrow = try await server.refresh(token, ["scope": "mailbox"])
            #expect(narrow["scope"]?.text == "mailbox")
            let session = try await server.session(narrow["access_token"]?.text)
            #expect(session["scopes"]?.items?.compactMap(\.text) == ["mailbox"])
            let wide = try await server.refresh(#require(narrow["refresh_token"]?.text))
            #expect(wide["scope"]?.text == "mailbox config offline_access")
        }
    }

    @Test("Without offline_access there is no refresh token, and without openid no ID token")
    func noRefreshToken() async throws {
        try await TestServer.with { server in
            let tokens = try await server.redeem(server.code(["scope": "mailbox"]))
            #expect(tokens.status == 200)
            #expect(tokens["refresh_token"] == nil)
            #expect(tokens["id_token"] == nil)
            #expect(tokens["expires_in"]?.integer == 600)
        }
    }

    @Test("Revoking either token ends the session; unknown tokens and foreign clients change nothing")
    func revocation() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            try await server.makeApp("other", by: admin)
            func revoke(_ token: String, client: String = "enfilade-cli") async throws -> Client.Answer {
                let form = FormCoding.encode([("token", token), ("client_id", client)])
                return try await server.client.post(form: form, to: "/oauth2/revoke")
            }
            let one = try await server.signInAdmin()
            #expect(try await revoke("unknown").status == 200)
            #expect(try await revoke(one.accessToken, client: "other").status == 200)
            #expect(try await revoke(one.accessToken, client: "no-such-app").error == "invalid_client")
            #expect(try await server.session(one.accessToken).status == 200)
            let revoked = try await revoke(one.accessToken)
            #expect(revoked.status == 200)
            #expect(revoked.body.isEmpty)
            #expect(try await server.session(one.accessToken).problem == "/problems/session-ended")
            let two = try await server.signInAdmin()
            #expect(try await revoke(#require(two.refreshToken)).status == 200)
            #expect(try await server.session(two.accessToken).problem == "/problems/session-ended")
            #expect(try await server.refresh(#require(two.refreshToken)).error == "invalid_grant")
        }
    }
}
