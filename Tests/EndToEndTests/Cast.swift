import Crypto
import TestKit
import Wire

/// Who calls, as the columns of the authorisation matrix are headed.
enum Who: String, CaseIterable, Sendable {
    /// Without a token.
    case none
    /// Ada's claims, signed by another server's key.
    case foreign
    /// Ada's token of ten minutes ago.
    case expired
    /// Ada's token of a session that she ended.
    case ended
    /// Ada's token with scope `openid` alone, from a session without a device.
    case bare
    /// Ada, whose resources are asked for.
    case member
    /// Bob, who has the same role.
    case other
    case auditor
    case admin
}

/// The people of these tests, all signed in with the same app: only their roles tell their tokens apart.
struct Cast: Sendable {
    static let app = "notes"
    static let scopes = "openid profile offline_access mailbox mailbox.read config admin audit"

    let server: TestServer
    let admin: EnrolledDevice
    let auditor: EnrolledDevice
    let member: EnrolledDevice
    let other: EnrolledDevice
    /// Somebody to write to.
    let recipient: EnrolledDevice
    let bare: SignedIn
    let ended: SignedIn
    let expired: SignedIn
    let foreignToken: String

    static func gather(on server: TestServer) async throws -> Cast {
        let operatorSession = try await server.signInAdmin()
        try await server.makeApp(app, scopes: scopes.split(separator: " ").map(String.init), by: operatorSession)
        for name in ["ada", "bob", "cleo"] { _ = try await server.makePerson(name, by: operatorSession) }
        _ = try await server.makePerson("olga", role: "auditor", by: operatorSession)
        let expired = try await server.member("ada")
        server.clock.advance(by: .seconds(601))
        let ended = try await server.member("ada")
        guard try await ended.call("DELETE", "/v1/sessions/\(ended.session)").status == 204 else {
            throw TestServer.Fault("a session cannot be ended")
        }
        let admin = try await server.signIn("admin", password: TestServer.adminPassword, app: app, scope: scopes)
        let member = try await server.member("ada").enrol()
        return Cast(
            server: server, admin: try await admin.enrol(name: "Desk", platform: "macOS"),
            auditor: try await server.member("olga").enrol(), member: member,
            other: try await server.member("bob").enrol(), recipient: try await server.member("cleo").enrol(),
            bare: try await server.member("ada", scope: "openid"), ended: ended, expired: expired,
            foreignToken: forged(member.owner.accessToken))
    }

    /// The claims of a token under a signature of another key.
    private static func forged(_ token: String) -> String {
        let parts = token.split(separator: ".").map(String.init)
        let payload = parts.count > 1 ? Base64URL.decode(parts[1]) ?? [] : []
        return JWS.sign(type: "at+jwt", payload: payload, key: SigningKey.generate())
    }

    func token(of who: Who) -> String? {
        switch who {
        case .none: nil
        case .foreign: foreignToken
        default: session(of: who).accessToken
        }
    }

    /// Whose session it is, or whose it pretends to be.
    func session(of who: Who) -> SignedIn {
        switch who {
        case .none, .foreign: member.owner
        case .expired: expired
        case .ended: ended
        case .bare: bare
        default: device(of: who).owner
        }
    }

    func device(of who: Who) -> EnrolledDevice {
        switch who {
        case .other: other
        case .auditor: auditor
        case .admin: admin
        default: member
        }
    }

    func send(_ call: Call, by who: Who, body: [UInt8]? = nil) async throws -> Client.Answer {
        try await server.client.send(
            call.method, call.target, headers: call.headers + authorization(of: who), body: body ?? call.bytes)
    }

    func authorization(of who: Who) -> [(String, String)] {
        token(of: who).map { [("Authorization", "Bearer \($0)")] } ?? []
    }
}

extension TestServer {
    /// Signs somebody in with the tests' app, for as much as the role may have.
    func member(_ username: String, scope: String = Cast.scopes) async throws -> SignedIn {
        try await signIn(username, password: "\(username)-password", app: Cast.app, scope: scope)
    }
}

extension Client.Answer {
    var problem: String? { self["type"]?.text }

    /// The fields that a problem says are wrong.
    var pointers: [String] { self["errors"]?.items?.compactMap { $0["pointer"]?.text } ?? [] }
}

/// A name that nothing has yet.
func freshName() -> String { "x" + Hex.encode(SystemEntropy().bytes(6)) }
