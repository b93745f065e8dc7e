import Crypto
import Domain
import TestKit
import Wire

/// A request without its token.
struct Call: Sendable {
    let method: String
    var target: String
    var headers: [(String, String)] = []
    var json: JSON?
    var form: String?

    var bytes: [UInt8]? { json?.encoded() ?? form.map { Array($0.utf8) } }
}

/// A good request for every route: whoever may make it succeeds.
///
/// Each one is made anew for each caller, and what it removes or changes is made for it. What belongs to somebody is Ada's.
enum Requests {
    /// Headers and body of a request, and its target where that is not the pattern itself.
    struct Parts: Sendable {
        var target: String?
        var headers: [(String, String)] = []
        var json: JSON?
        var form: String?
    }

    typealias Make = @Sendable (Cast, Who) async throws -> Parts

    private static let all: [String: Make] = [login, accounts, apps, devices, mail, configuration].reduce(into: [:]) {
        $0.merge($1) { first, _ in first }
    }

    /// The good request of a route; plain for one that needs nothing but its path.
    static func call(_ route: Line, _ cast: Cast, for who: Who) async throws -> Call {
        let parts = try await all[route.name]?(cast, who) ?? Parts()
        let target = parts.target ?? route.pattern
        guard !target.contains("{") else { throw TestServer.Fault("\(route.name) has no request in Requests") }
        var headers = parts.headers
        if parts.json != nil { headers.append(("Content-Type", "application/json")) }
        if parts.form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return Call(method: route.method, target: target, headers: headers, json: parts.json, form: parts.form)
    }

    private static let ifMatch = ("If-Match", "*")

    private static let login: [String: Make] = [
        "GET /oauth2/authorize": { cast, _ in Parts(target: cast.signInTarget) },
        "POST /oauth2/authorize": { cast, _ in
            let page = try await cast.server.client.send("GET", cast.signInTarget)
            let ticket = page.text.hiddenField("request") ?? ""
            let form = [("request", ticket), ("username", "ada"), ("password", "ada-password")]
            return Parts(form: FormCoding.encode(form))
        },
        "POST /oauth2/token": { cast, _ in
            Parts(
                form: FormCoding.encode([
                    ("grant_type", "authorization_code"), ("code", "unknown"), ("client_id", Cast.app),
                    ("redirect_uri", TestServer.redirect), ("code_verifier", TestServer.verifier),
                ]))
        },
        "POST /oauth2/revoke": { cast, _ in
            Parts(form: FormCoding.encode([("token", "unknown"), ("client_id", Cast.app)]))
        },
        "DELETE /v1/sessions/{sid}": { cast, _ in
            Parts(target: "/v1/sessions/\(try await cast.server.member("ada").session)")
        },
    ]

    private static let accounts: [String: Make] = [
        "POST /v1/accounts": { _, _ in
            Parts(json: [
                "username": .string(freshName()), "displayName": "Somebody", "role": "auditor",
                "password": "a long password",
            ])
        },
        "GET /v1/accounts/{account}": { cast, _ in Parts(target: "/v1/accounts/\(cast.member.owner.account)") },
        "PATCH /v1/accounts/{account}": { cast, _ in
            let account = try await cast.server.makePerson(freshName(), by: cast.admin.owner)
            return Parts(
                target: "/v1/accounts/\(account)", headers: [ifMatch],
                json: [
                    "displayName": "Somebody else", "role": "auditor", "disabled": true, "password": "another password",
                ])
        },
        "GET /v1/accounts/{account}/devices": { cast, _ in
            Parts(target: "/v1/accounts/\(cast.member.owner.account)/devices")
        },
        "GET /v1/directory": { _, _ in Parts(target: "/v1/directory?username=cleo") },
    ]

    private static let apps: [String: Make] = [
        "POST /v1/apps": { _, _ in Parts(json: registration(with: ["id": .string(freshName())])) },
        "GET /v1/apps/{app}": { _, _ in Parts(target: "/v1/apps/\(Cast.app)") },
        "PUT /v1/apps/{app}": { cast, _ in
            Parts(target: "/v1/apps/\(try await cast.freshApp())", headers: [ifMatch], json: registration(with: [:]))
        },
        "DELETE /v1/apps/{app}": { cast, _ in
            Parts(target: "/v1/apps/\(try await cast.freshApp())", headers: [ifMatch])
        },
    ]

    private static func registration(with more: JSON.Object) -> JSON {
        var fields = more
        let rest: JSON.Object = [
            "name": "Expenses", "kind": "app", "teamId": "ABCDE12345", "bundleId": "test.enfilade.expenses",
            "redirectUris": ["https://enfilade.test/callback", "test.enfilade:/callback"],
            "scopes": ["openid", "mailbox"], "sharingGroup": "suite", "universalLinks": ["https://enfilade.test/x/*"],
            "urlScheme": "expenses",
        ]
        for (name, value) in rest { fields[name] = value }
        return .object(fields)
    }

    private static let devices: [String: Make] = [
        "GET /v1/devices/{device}": { cast, _ in Parts(target: "/v1/devices/\(cast.member.id)") },
        "PATCH /v1/devices/{device}": { cast, _ in
            Parts(
                target: "/v1/devices/\(cast.member.id)",
                json: ["name": .string(freshName()), "model": "iPhone17,1", "osVersion": "26.1", "appVersion": "1.2"])
        },
        "DELETE /v1/devices/{device}": { cast, _ in
            Parts(target: "/v1/devices/\(try await cast.server.member("ada").enrol().id)")
        },
        // Ada's keys, with a proof for the session of whoever calls.
        "POST /v1/devices": { cast, who in Parts(json: cast.member.enrolment(for: cast.session(of: who))) },
    ]

    private static let mail: [String: Make] = [
        "POST /v1/messages": { cast, _ in
            let tomorrow = cast.server.clock.now() + .seconds(86_400)
            let id = SystemEntropy().uuid(at: cast.server.clock.now())
            return Parts(
                json: cast.member.message(
                    id, to: [(cast.recipient.owner.account, [cast.recipient.id])], text: "ciphertext",
                    more: [
                        ("conversationId", "c-1"), ("urgent", true), ("expiresAt", .string(tomorrow.rfc3339)),
                    ]))
        },
        "POST /v1/mailbox/acks": { _, _ in Parts(json: ["through": 0]) },
    ]

    private static let configuration: [String: Make] = [
        "GET /v1/apps/{app}/config": { _, _ in Parts(target: "/v1/apps/\(Cast.app)/config") },
        "GET /v1/apps/{app}/config/revisions": { _, _ in Parts(target: "/v1/apps/\(Cast.app)/config/revisions") },
        "GET /v1/apps/{app}/config/reports": { _, _ in Parts(target: "/v1/apps/\(Cast.app)/config/reports") },
        "PUT /v1/apps/{app}/config": { cast, _ in
            Parts(
                target: "/v1/apps/\(try await cast.freshApp())/config", headers: [ifMatch],
                json: ["values": ["theme": "dark", "limit": 3], "reason": "a first set"])
        },
        "GET /v1/apps/{app}/config/revisions/{revision}": { cast, _ in
            Parts(target: "/v1/apps/\(try await cast.publishedApp())/config/revisions/1")
        },
        "POST /v1/apps/{app}/config/rollbacks": { cast, _ in
            Parts(
                target: "/v1/apps/\(try await cast.publishedApp())/config/rollbacks", headers: [ifMatch],
                json: ["revision": 1, "reason": "the second was wrong"])
        },
        "POST /v1/config/reports": { _, _ in
            Parts(json: [
                "revision": 0, "state": "rejected",
                "reasons": [["key": "theme", "code": "unknown", "detail": "blue?"]],
            ])
        },
    ]
}

extension Cast {
    fileprivate var signInTarget: String {
        "/oauth2/authorize?"
            + FormCoding.encode([
                ("response_type", "code"), ("client_id", Self.app), ("redirect_uri", TestServer.redirect),
                ("scope", "openid"), ("code_challenge_method", "S256"),
                ("code_challenge", PKCE.challenge(verifier: TestServer.verifier)),
            ])
    }

    func freshApp() async throws -> String {
        let id = freshName()
        try await server.makeApp(id, by: admin.owner)
        return id
    }

    /// An app with two revisions of its configuration.
    func publishedApp() async throws -> String {
        let app = try await freshApp()
        for revision in 1...2 {
            try await publish(["revision": .number(JSON.Number(Int64(revision)))], to: app)
        }
        return app
    }

    func publish(_ values: JSON, to app: String) async throws {
        let answer = try await admin.owner.call(
            "PUT", "/v1/apps/\(app)/config", ["values": values, "reason": "for a test"], headers: [("If-Match", "*")])
        guard answer.status == 200 else { throw TestServer.Fault("publish: \(answer.status) \(answer.text)") }
    }
}

extension EnrolledDevice {
    /// The body that enrols this device's keys for a session, whosever that is.
    func enrolment(for session: SignedIn, agreementKey: [UInt8]? = nil) -> JSON {
        session.enrolment(of: identity, agreementKey ?? self.agreementKey)
    }
}

extension SignedIn {
    /// The body that enrols keys for this session.
    func enrolment(of identity: SigningKey, _ agreementKey: [UInt8]) -> JSON {
        let proof = EnrolmentProof.message(
            issuer: server.issuer, accountID: AccountID(account), sessionID: SessionID(session),
            identityKey: identity.publicKey, agreementKey: agreementKey)
        return [
            "name": "iPhone", "platform": "iOS", "model": "iPhone17,1", "osVersion": "26.1", "appVersion": "1.2",
            "identityKey": .string(Base64.encode(identity.publicKey)),
            "agreementKey": .string(Base64.encode(agreementKey)),
            "signature": .string(Base64.encode(identity.sign(proof))),
        ]
    }
}
