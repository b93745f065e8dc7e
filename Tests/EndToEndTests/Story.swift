import Application
import Crypto
import TestKit
import Wire

/// Everything that is audited, done once, and every secret used on the way.
struct Story: Sendable {
    let auditor: SignedIn
    let member: SignedIn
    let app: String
    /// Passwords, codes, tokens, verifiers, ciphertext, configuration: nothing that a log may hold.
    let secrets: [String]
    /// Those of them that the server is there to keep, as they are.
    let stored: Set<String>

    static func tell(on server: TestServer) async throws -> Story {
        // Before anybody signs in: it ends all sessions.
        _ = try await Owner(server.settings).markRestored()
        let cast = try await Cast.gather(on: server)
        var secrets = ["ada-password", "bob-password", TestServer.adminPassword, TestServer.verifier]
        secrets += try await refusals(cast)
        let app = try await administer(cast)
        try await useDevices(cast)
        let message = try await cast.other.send("the plain text of a message", to: cast.recipient)
        guard message.status == 201 else { throw TestServer.Fault("send: \(message.text)") }
        let people = [cast.member, cast.other, cast.auditor, cast.admin, cast.recipient]
        secrets += people.flatMap { [$0.owner.accessToken, $0.owner.refreshToken ?? ""] }.filter { !$0.isEmpty }
        let keys = people.flatMap { [$0.identity.publicKey, $0.agreementKey] }
        let stored = keys.flatMap { [Base64.encode($0), Hex.encode($0)] }
        let ciphertext = Base64.encode(Array("the plain text of a message".utf8))
        secrets += stored + ["the plain text of a message", ciphertext, configured]
        return Story(
            auditor: cast.auditor.owner, member: cast.member.owner, app: app, secrets: secrets,
            stored: Set(stored + ["the plain text of a message", ciphertext, configured]))
    }

    private static let configured = "https://hidden.example/key?abcdef"

    /// What is refused and written down; the secrets that were tried.
    private static func refusals(_ cast: Cast) async throws -> [String] {
        let server = cast.server
        _ = try? await server.signIn("ada", password: "a wrong password", app: Cast.app)
        let code = try await server.authorize(
            server.client, "ada", "ada-password", app: Cast.app, scope: "openid offline_access")
        let form = FormCoding.encode([
            ("grant_type", "authorization_code"), ("code", code), ("client_id", Cast.app),
            ("redirect_uri", TestServer.redirect), ("code_verifier", TestServer.verifier),
        ])
        for _ in 0..<2 { _ = try await server.client.post(form: form, to: "/oauth2/token") }
        let victim = try await server.member("ada")
        let next = try await victim.refresh()
        var thief = victim
        thief.refreshToken = next["refresh_token"]?.text
        for session in [thief, victim] { _ = try await session.refresh() }
        _ = try await cast.bare.call("POST", "/v1/devices", cast.other.enrolment(for: cast.bare))
        return ["a wrong password", code, victim.refreshToken ?? "", thief.refreshToken ?? "", victim.accessToken]
    }

    private static func administer(_ cast: Cast) async throws -> String {
        let admin = cast.admin.owner
        let app = try await cast.freshApp()
        try await cast.publish(["url": .string(configured)], to: app)
        try await cast.publish(["url": "another"], to: app)
        let changes: [(String, String, JSON?)] = [
            ("PATCH", "/v1/accounts/\(cast.other.owner.account)", ["displayName": "Robert"]),
            (
                "PUT", "/v1/apps/\(app)",
                ["name": "New", "kind": "app", "redirectUris": [], "scopes": ["openid", "config"]]
            ),
            ("POST", "/v1/apps/\(app)/config/rollbacks", ["revision": 1, "reason": "back"]),
            ("GET", "/v1/apps/\(app)/config/reports", nil), ("GET", "/v1/accounts", nil),
            ("GET", "/v1/devices/\(cast.member.id)", nil), ("GET", "/v1/audit/entries", nil),
            ("DELETE", "/v1/apps/\(app)", nil),
        ]
        for (method, target, body) in changes {
            let headers = method == "GET" ? [] : [("If-Match", "*")]
            let answer = try await admin.call(method, target, body, headers: headers)
            guard answer.status < 300 else { throw TestServer.Fault("\(method) \(target): \(answer.text)") }
        }
        return app
    }

    private static func useDevices(_ cast: Cast) async throws {
        let spare = try await cast.server.member("ada").enrol(name: "Old Mac", platform: "macOS")
        let calls: [(String, String, JSON?)] = [
            ("PATCH", "/v1/devices/\(spare.id)", ["name": "Older Mac"]),
            (
                "POST", "/v1/config/reports",
                [
                    "revision": 0, "state": "rejected",
                    "reasons": [["key": "url", "code": "bad", "detail": .string(configured)]],
                ]
            ),
            ("DELETE", "/v1/devices/\(spare.id)", nil),
        ]
        for (method, target, body) in calls {
            let answer = try await cast.member.owner.call(method, target, body)
            guard answer.status < 300 else { throw TestServer.Fault("\(method) \(target): \(answer.text)") }
        }
    }
}
