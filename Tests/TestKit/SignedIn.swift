import Crypto
import Domain
import Lanes
package import Wire

/// One person signed in with one app: the client side of OAuth, and calls with the token.
package struct SignedIn: Sendable {
    package let server: any Site
    package let client: Client
    package let username: String
    package let app: String
    package var accessToken: String
    package var refreshToken: String?
    package let account: UUID
    package let session: UUID

    package func call(
        _ method: String, _ target: String, _ body: JSON? = nil, headers: [(String, String)] = []
    ) async throws -> Client.Answer {
        var all = headers + [("Authorization", "Bearer \(accessToken)")]
        if body != nil { all.append(("Content-Type", "application/json")) }
        return try await client.send(method, target, headers: all, body: body?.encoded())
    }

    /// The same session at another node.
    package func at(_ site: any Site) -> SignedIn {
        SignedIn(
            server: site, client: site.makeClient(), username: username, app: app, accessToken: accessToken,
            refreshToken: refreshToken, account: account, session: session)
    }

    package func get(_ target: String, headers: [(String, String)] = []) async throws -> Client.Answer {
        try await call("GET", target, headers: headers)
    }
}

extension Site {
    package static var verifier: String { "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" }
    package static var redirect: String { "http://127.0.0.1:4711/callback" }

    package func signInAdmin(scope: String? = nil) async throws -> SignedIn {
        try await signIn(
            "admin", password: TestServer.adminPassword, app: "enfilade-cli",
            scope: scope ?? "openid profile offline_access mailbox mailbox.read config admin audit")
    }

    /// The whole authorization code flow, as an app with a browser goes through it.
    package func signIn(
        _ username: String, password: String, app: String,
        scope: String = "openid profile offline_access mailbox config",
        redirect: String = TestServer.redirect
    ) async throws -> SignedIn {
        let client = makeClient()
        let code = try await authorize(client, username, password, app: app, scope: scope, redirect: redirect)
        let form = FormCoding.encode([
            ("grant_type", "authorization_code"), ("code", code), ("client_id", app), ("redirect_uri", redirect),
            ("code_verifier", Self.verifier),
        ])
        let tokens = try await client.post(form: form, to: "/oauth2/token")
        guard tokens.status == 200, let access = tokens["access_token"]?.text else {
            throw TestServer.Fault("token: \(tokens.status) \(tokens.text)")
        }
        let session = try await client.send("GET", "/v1/session", headers: [("Authorization", "Bearer \(access)")])
        guard let account = session["account"]?["id"]?.text.flatMap(UUID.init),
            let sid = session["sid"]?.text.flatMap(UUID.init)
        else { throw TestServer.Fault("session: \(session.status) \(session.text)") }
        return SignedIn(
            server: self, client: client, username: username, app: app, accessToken: access,
            refreshToken: tokens["refresh_token"]?.text, account: account, session: sid)
    }

    /// The code that the sign-in page hands out.
    package func authorize(
        _ client: Client, _ username: String, _ password: String, app: String, scope: String,
        redirect: String = TestServer.redirect
    ) async throws -> String {
        let query = FormCoding.encode([
            ("response_type", "code"), ("client_id", app), ("redirect_uri", redirect), ("scope", scope),
            ("state", "some-state"), ("nonce", "some-nonce"),
            ("code_challenge", PKCE.challenge(verifier: Self.verifier)),
            ("code_challenge_method", "S256"),
        ])
        let page = try await client.send("GET", "/oauth2/authorize?\(query)")
        guard let sealed = page.text.hiddenField("request") else {
            throw TestServer.Fault("page: \(page.status) \(page.text)")
        }
        let form = FormCoding.encode([("request", sealed), ("username", username), ("password", password)])
        let answer = try await client.post(form: form, to: "/oauth2/authorize")
        guard answer.status == 303, let code = answer.header("Location")?.queryValue("code") else {
            throw TestServer.Fault("sign-in: \(answer.status) \(answer.header("Location") ?? answer.text)")
        }
        return code
    }

    /// Makes an account as the administrator does; its password is its name with `-password` behind.
    package func makePerson(_ username: String, role: String = "member", by admin: SignedIn) async throws -> UUID {
        let body: JSON = [
            "username": .string(username), "displayName": .string(username.capitalisedASCII),
            "password": .string("\(username)-password"), "role": .string(role),
        ]
        let answer = try await admin.call("POST", "/v1/accounts", body)
        guard answer.status == 201, let id = answer["id"]?.text.flatMap(UUID.init) else {
            throw TestServer.Fault("account: \(answer.status) \(answer.text)")
        }
        return id
    }

    /// Registers an app with the tests' redirect URI.
    package func makeApp(
        _ id: String, scopes: [String] = ["openid", "profile", "offline_access", "mailbox", "config"],
        parent: String? = nil, by admin: SignedIn
    ) async throws {
        var body: JSON.Object = [
            "id": .string(id), "name": .string(id), "kind": parent == nil ? "app" : "extension",
            "redirectUris": ["http://127.0.0.1/callback"], "scopes": .array(scopes.map { .string($0) }),
        ]
        if let parent { body["parent"] = .string(parent) }
        let answer = try await admin.call("POST", "/v1/apps", .object(body))
        guard answer.status == 201 else { throw TestServer.Fault("app: \(answer.status) \(answer.text)") }
    }

    package func signIn(_ username: String, app: String) async throws -> SignedIn {
        try await signIn(username, password: "\(username)-password", app: app)
    }
}

extension Client {
    package func post(form: String, to target: String, headers: [(String, String)] = []) async throws -> Answer {
        try await send(
            "POST", target, headers: headers + [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8))
    }
}

extension String {
    /// The value of a hidden field in a page of ours.
    package func hiddenField(_ name: String) -> String? {
        guard let start = range(after: "name=\"\(name)\" value=\"") else { return nil }
        return String(self[start...].prefix { $0 != "\"" })
    }

    package func queryValue(_ name: String) -> String? {
        guard let question = firstIndex(of: "?") else { return nil }
        return FormCoding.decode(Array(self[index(after: question)...].utf8))?.first { $0.name == name }?.value
    }

    private func range(after text: String) -> Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { return rest.index(rest.startIndex, offsetBy: text.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    fileprivate var capitalisedASCII: String { prefix(1).uppercased() + dropFirst() }
}
