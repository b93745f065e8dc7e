import TestKit
import Wire

/// Steps that several tests of signing in take one by one.
extension TestServer {
    func query(_ changes: [String: String] = [:]) -> String {
        let good = [
            "response_type": "code", "client_id": "enfilade-cli", "redirect_uri": Self.redirect, "state": "s t",
            "scope": "openid profile offline_access mailbox", "nonce": "n", "code_challenge_method": "S256",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        ]
        let pairs = good.merging(changes) { $1 }.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) }
        return "/oauth2/authorize?" + FormCoding.encode(pairs)
    }

    func ticket(_ changes: [String: String] = [:]) async throws -> String {
        let page = try await client.send("GET", query(changes))
        guard let ticket = page.text.hiddenField("request") else { throw Fault("page: \(page.status) \(page.text)") }
        return ticket
    }

    func post(
        _ username: String, _ password: String, ticket: String, headers: [(String, String)] = []
    ) async throws -> Client.Answer {
        let form = [("request", ticket), ("username", username), ("password", password)]
        return try await client.post(form: FormCoding.encode(form), to: "/oauth2/authorize", headers: headers)
    }

    func code(_ changes: [String: String] = [:]) async throws -> String {
        let answer = try await post("admin", Self.adminPassword, ticket: ticket(changes))
        guard let code = answer.header("Location")?.queryValue("code") else { throw Fault("no code: \(answer.status)") }
        return code
    }

    func redeem(_ code: String, _ changes: [String: String] = [:]) async throws -> Client.Answer {
        let good = [
            "grant_type": "authorization_code", "code": code, "client_id": "enfilade-cli",
            "redirect_uri": Self.redirect, "code_verifier": Self.verifier,
        ]
        return try await token(good.merging(changes) { $1 })
    }

    func refresh(_ token: String, _ changes: [String: String] = [:]) async throws -> Client.Answer {
        let good = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "enfilade-cli"]
        return try await self.token(good.merging(changes) { $1 })
    }

    func token(_ form: [String: String], headers: [(String, String)] = []) async throws -> Client.Answer {
        let pairs = form.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) }
        return try await client.post(form: FormCoding.encode(pairs), to: "/oauth2/token", headers: headers)
    }

    func session(_ token: String?) async throws -> Client.Answer {
        try await client.send("GET", "/v1/session", headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    func sql(_ text: String) async throws -> String {
        try await PostgresCluster.shared.psql(text, database: database)
    }
}

extension Client.Answer {
    var problem: String? { self["type"]?.text }
    var error: String? { self["error"]?.text }
}
