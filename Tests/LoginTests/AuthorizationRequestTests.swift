import Crypto
import Domain
import Testing
import Wire

@testable import Login
@testable import Store

@Suite struct AuthorizationRequestTests {
    private static let good = [
        "response_type": "code", "client_id": "messenger", "redirect_uri": "app.example:/done", "state": "s",
        "nonce": "n",
        "scope": "openid mailbox", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    ]
    private static let app = AppFacts(
        id: AppID(stored: "messenger"), name: "Messenger", kind: .app, parent: nil,
        redirectURIs: ["app.example:/done"], scopes: [.openid, .mailbox, .offlineAccess])

    private func reading(_ changes: [String: String] = [:]) throws(OAuthError) -> AuthorizationRequest {
        let pairs = Self.good.merging(changes) { $1 }.map { (name: $0.key, value: $0.value) }
        return try AuthorizationRequest(OAuthParameters(pairs), app: Self.app, redirectURI: "app.example:/done")
    }

    @Test("A good request is read")
    func readable() throws {
        let request = try reading()
        #expect(request.app.text == "messenger")
        #expect(request.scopes == [.openid, .mailbox])
        #expect(request.state == "s")
        #expect(request.nonce == "n")
    }

    @Test("Unknown parameters and unknown scopes are left out; without scope it is openid")
    func lenient() throws {
        #expect(try reading(["resource": "x", "scope": "openid email"]).scopes == [.openid])
        #expect(try reading(["scope": ""]).scopes == [.openid])
        #expect(try reading(["prompt": "login", "response_mode": "query"]).state == "s")
    }

    @Test(
        "Every other fault is refused with its own code",
        arguments: [
            (["response_type": ""], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["response_mode": "fragment"], "invalid_request"), (["code_challenge": ""], "invalid_request"),
            (["code_challenge": "short"], "invalid_request"), (["code_challenge_method": ""], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"), (["scope": "openid admin"], "invalid_scope"),
            (["scope": "email"], "invalid_scope"), (["prompt": "none"], "login_required"),
            (["request": "x"], "request_not_supported"), (["request_uri": "https://x"], "request_uri_not_supported"),
            (["state": String(repeating: "s", count: 513)], "invalid_request"),
            (["nonce": String(repeating: "s", count: 513)], "invalid_request"),
        ])
    func refused(changes: [String: String], code: String) {
        let error = #expect(throws: OAuthError.self) { try reading(changes) }
        #expect(error?.code.rawValue == code)
    }

    @Test("A parameter that comes twice is refused, known or not")
    func repeated() {
        let pairs =
            Self.good.map { (name: $0.key, value: $0.value) } + [(name: "x", value: "1"), (name: "x", value: "1")]
        let error = #expect(throws: OAuthError.self) {
            try AuthorizationRequest(OAuthParameters(pairs), app: Self.app, redirectURI: "app.example:/done")
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A ticket opens to the request it was sealed for, until it runs out")
    func ticket() throws {
        let sealing = RootKey(SecretBytes(random: RootKey.size)).subkey(.signInTicket)
        let now = Instant(microseconds: 1_800_000_000_000_000)
        let request = try reading()
        let ticket = SignInTicket.seal(request, until: now + .seconds(600), by: sealing)
        #expect(SignInTicket.open(ticket, at: now + .seconds(599), by: sealing) == request)
        #expect(SignInTicket.open(ticket, at: now + .seconds(600), by: sealing) == nil)
    }

    @Test("A ticket does not open under the key that seals signing keys, nor a signing key under the ticket's")
    func separateKeys() throws {
        let root = RootKey(SecretBytes(random: RootKey.size))
        let now = Instant(microseconds: 0)
        let ticket = SignInTicket.seal(try reading(), until: now + .seconds(600), by: root.subkey(.sealing))
        #expect(SignInTicket.open(ticket, at: now, by: root.subkey(.signInTicket)) == nil)
        let secrets = Secrets(root)
        let sealed = SigningKey.generate().sealed(by: secrets.sealing)
        #expect(throws: SealingFault.self) { try SigningKey(opening: sealed, by: secrets.tickets) }
    }

    @Test("A ticket that was altered, cut, or sealed elsewhere does not open")
    func tampered() throws {
        let sealing = RootKey(SecretBytes(random: RootKey.size)).subkey(.signInTicket)
        let other = RootKey(SecretBytes(random: RootKey.size)).subkey(.signInTicket)
        let now = Instant(microseconds: 0)
        let bytes = try #require(
            Base64URL.decode(SignInTicket.seal(try reading(), until: now + .seconds(600), by: sealing)))
        for index in [0, 1, 24, 25, bytes.count / 2, bytes.count - 1] {
            var altered = bytes
            altered[index] ^= 1
            #expect(SignInTicket.open(Base64URL.encode(altered), at: now, by: sealing) == nil)
        }
        #expect(SignInTicket.open(Base64URL.encode(Array(bytes.dropLast())), at: now, by: sealing) == nil)
        #expect(SignInTicket.open(Base64URL.encode(bytes), at: now, by: other) == nil)
        #expect(SignInTicket.open("", at: now, by: sealing) == nil)
        #expect(SignInTicket.open("%%%", at: now, by: sealing) == nil)
    }
}
