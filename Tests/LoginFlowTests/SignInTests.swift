import Crypto
import TestKit
import Testing
import Wire

@Suite struct SignInTests {
    @Test("Discovery names only what is there, and the keys it points to verify the tokens")
    func discovery() async throws {
        try await TestServer.with { server in
            let metadata = try await server.client.send("GET", "/.well-known/openid-configuration")
            #expect(metadata["issuer"]?.text == server.issuer)
            #expect(metadata["authorization_response_iss_parameter_supported"]?.flag == true)
            let other = try await server.client.send("GET", "/.well-known/oauth-authorization-server")
            #expect(other.body == metadata.body)
            let keys = try await server.client.send("GET", "/oauth2/jwks")
            let tag = try #require(keys.header("ETag"))
            let again = try await server.client.send("GET", "/oauth2/jwks", headers: [("If-None-Match", tag)])
            #expect(again.status == 304)
            let key = try #require(keys["keys"]?.items?.first)
            let keyID = try #require(key["kid"]?.text)
            let publicKey = try #require(key["x"]?.text.flatMap(Base64URL.decode))
            let tokens = try await server.redeem(server.code())
            let access = try #require(tokens["access_token"]?.text)
            let claims = try JSON.parse(JWS.verify(access, keys: [keyID: publicKey], type: "at+jwt"))
            #expect(claims["iss"]?.text == server.issuer)
            #expect(claims["scope"]?.text == tokens["scope"]?.text)
            let identity = try #require(tokens["id_token"]?.text)
            let person = try JSON.parse(JWS.verify(identity, keys: [keyID: publicKey], type: "JWT"))
            #expect(person["nonce"]?.text == "n")
            #expect(person["preferred_username"]?.text == "admin")
            #expect(person["sid"] == claims["sid"])
        }
    }

    @Test("The page is closed to scripts, frames and caches, and escapes what it is given")
    func page() async throws {
        try await TestServer.with { server in
            let page = try await server.client.send("GET", server.query(["login_hint": "\"><script>"]))
            #expect(page.status == 200)
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
            #expect(policy.hasSuffix("frame-ancestors 'none'; base-uri 'none'"))
            #expect(page.header("Cache-Control") == "no-store")
            #expect(!page.text.contains("<script"))
            #expect(page.text.contains("Enfilade command line"))
        }
    }

    @Test(
        "Nobody is sent anywhere until client and redirect URI are known to belong together",
        arguments: [
            ["client_id": "unknown"], ["client_id": "No Such"], ["client_id": ""], ["redirect_uri": ""],
            ["redirect_uri": "https://evil.example/callback"],
        ])
    func noRedirect(changes: [String: String]) async throws {
        try await TestServer.with { server in
            let answer = try await server.client.send("GET", server.query(changes))
            #expect(answer.status == 400)
            #expect(answer.header("Location") == nil)
            #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
        }
    }

    @Test("Other faults go back to the app, with state and issuer")
    func redirectedFaults() async throws {
        try await TestServer.with { server in
            let answer = try await server.client.send("GET", server.query(["response_type": "token"]))
            #expect(answer.status == 303)
            let location = try #require(answer.header("Location"))
            #expect(location.hasPrefix(TestServer.redirect + "?"))
            #expect(location.queryValue("error") == "unsupported_response_type")
            #expect(location.queryValue("state") == "s t")
            #expect(location.queryValue("iss") == server.issuer)
            let twice = try await server.client.send("GET", server.query() + "&client_id=enfilade-cli")
            #expect(twice.status == 400)
            let state = try await server.client.send("GET", server.query() + "&nonce=other")
            #expect(state.header("Location")?.queryValue("error") == "invalid_request")
        }
    }

    @Test("A wrong password, an unknown name, a disabled account and one without a password are answered alike")
    func refusals() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let person = try await server.makePerson("ada", by: admin)
            let silent: JSON = ["username": "silent", "displayName": "Silent"]
            _ = try await admin.call("POST", "/v1/accounts", silent)
            let read = try await admin.get("/v1/accounts/\(person)")
            let changed = try await admin.call(
                "PATCH", "/v1/accounts/\(person)", ["disabled": true],
                headers: [("If-Match", read.header("ETag") ?? "")])
            #expect(changed.status == 200, "\(changed.text)")
            let ticket = try await server.ticket()
            var pages: Set<String> = []
            for (name, password) in [
                ("admin", "wrong"), ("nobody", "wrong"), ("ada", "ada-password"), ("silent", "x"),
            ] {
                let answer = try await server.post(name, password, ticket: ticket)
                #expect(answer.status == 401, "\(name)")
                #expect(answer.header("WWW-Authenticate") == nil)
                pages.insert(answer.text.replacing("value=\"\(name)\"", with: ""))
            }
            #expect(pages.count == 1)
            #expect(try await server.post("no such name!", "x", ticket: ticket).status == 401)
            #expect(try await server.post("admin", "", ticket: ticket).status == 401)
            let reasons = try await server.sql(
                "SELECT string_agg(reason, ' ' ORDER BY occurred_at) FROM audit_entry WHERE action = 'session.refused'")
            #expect(
                reasons.contains(
                    "wrong-password unknown-account account-disabled no-password wrong-password"),
                "\(reasons)")
            let named = try await server.sql("SELECT count(*) FROM audit_entry e WHERE e::text LIKE '%nobody%'")
            #expect(named.contains("0"))
        }
    }

    @Test("A name is taken in any case and with a space behind it")
    func spelling() async throws {
        try await TestServer.with { server in
            let answer = try await server.post(" Admin ", TestServer.adminPassword, ticket: server.ticket())
            #expect(answer.status == 303)
        }
    }

    @Test("Five failures block the name for a while, whatever the password; then it may try again")
    func throttled() async throws {
        try await TestServer.with { server in
            let ticket = try await server.ticket()
            server.clock.stop()
            for _ in 0..<5 { #expect(try await server.post("admin", "wrong", ticket: ticket).status == 401) }
            let blocked = try await server.post("admin", TestServer.adminPassword, ticket: ticket)
            #expect(blocked.status == 429)
            #expect(blocked.header("Retry-After") != nil)
            server.clock.advance(by: .seconds(2))
            #expect(try await server.post("admin", TestServer.adminPassword, ticket: ticket).status == 303)
            #expect(try await server.post("admin", "wrong", ticket: ticket).status == 401)
        }
    }

    @Test("Guesses sent all at once are counted before they are compared")
    func guessesAtOnce() async throws {
        try await TestServer.with { server in
            let ticket = try await server.ticket()
            server.clock.stop()
            let form = FormCoding.encode([("request", ticket), ("username", "admin"), ("password", "wrong")])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    let client = Client(port: server.port)
                    group.addTask { try await client.post(form: form, to: "/oauth2/authorize").status }
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [401: 5, 429: 15])
        }
    }

    @Test("A damaged, missing or old ticket, a field given twice and a form from another site go no further")
    func badForms() async throws {
        try await TestServer.with { server in
            let ticket = try await server.ticket()
            #expect(try await server.post("admin", TestServer.adminPassword, ticket: "x" + ticket).status == 400)
            #expect(try await server.post("admin", TestServer.adminPassword, ticket: "").status == 400)
            let twice = FormCoding.encode([
                ("request", ticket), ("username", "admin"), ("username", "admin"),
                ("password", TestServer.adminPassword),
            ])
            #expect(try await server.client.post(form: twice, to: "/oauth2/authorize").status == 400)
            let crossed = try await server.post(
                "admin", TestServer.adminPassword, ticket: ticket, headers: [("Origin", "https://evil.example")])
            #expect(crossed.status == 403)
            server.clock.advance(by: .seconds(601))
            #expect(try await server.post("admin", TestServer.adminPassword, ticket: ticket).status == 400)
        }
    }

    @Test("A role caps what is granted, and a role that carries nothing of it is told so")
    func roles() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            _ = try await server.makePerson("ada", by: admin)
            let ada = try await server.signIn(
                "ada", password: "ada-password", app: "enfilade-cli", scope: "openid mailbox admin audit")
            let session = try await ada.get("/v1/session")
            #expect(session["scopes"]?.items?.compactMap(\.text) == ["openid", "mailbox"])
            let denied = try await server.post("ada", "ada-password", ticket: server.ticket(["scope": "admin"]))
            #expect(denied.header("Location")?.queryValue("error") == "access_denied")
        }
    }
}
