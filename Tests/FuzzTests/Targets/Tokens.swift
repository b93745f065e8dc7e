import Domain
import Wire

@testable import Accounts
@testable import Crypto
@testable import Login
@testable import Store

extension FuzzTarget {
    static let tokens = [
        FuzzTarget("jws", longest: 1024) { bytes in
            let text = bytes.anyText
            guard let payload = try? JWS.verify(text, keys: keys, type: AccessToken.type) else { return }
            let parts = text.split(separator: ".")
            expect(parts.count == 3 && text.utf8.count <= JWS.maximumSize, "an accepted token has three parts")
            expect(same(Base64URL.encode(payload), String(parts[1])), "what is read is what was signed")
        },
        FuzzTarget("jws-header", longest: 512) { bytes in
            // The signature is good, so that everything behind it is reached.
            let input = Base64URL.encode(bytes) + "." + Base64URL.encode(Array("{}".utf8))
            let compact = input + "." + Base64URL.encode(key?.sign(Array(input.utf8)) ?? [])
            guard (try? JWS.verify(compact, keys: keys, type: AccessToken.type)) != nil else { return }
            let header = try? JSON.parse(bytes)
            expect(header?["alg"]?.text == "EdDSA", "no other algorithm is taken")
            expect(header?["crit"] == nil && header?["b64"] == nil, "nor what must be understood and is not")
            expect(header?["kid"]?.text.flatMap { keys[$0] } != nil, "nor a key that is not ours")
        },
        FuzzTarget("access-token", longest: 1024) { bytes in
            let compact = key.map { JWS.sign(type: AccessToken.type, payload: bytes, key: $0) } ?? ""
            if compact.utf8.count <= JWS.maximumSize {
                let payload = try? JWS.verify(compact, keys: keys, type: AccessToken.type)
                expect(payload == bytes, "what was signed is verified")
            }
            guard let token = AccessToken(payload: bytes, issuer: issuer) else { return }
            for now in [Int64.min, 0, Int64.max] { _ = token.isCurrent(at: Instant(microseconds: now)) }
            let written = token.payload(issuer: issuer, id: UUID(high: 0, low: 0))
            guard let again = AccessToken(payload: written, issuer: issuer) else {
                return expect(false, "claims that are written are read again")
            }
            expect(again.account == token.account && again.session == token.session, "of the same account and session")
            expect(again.scopes == token.scopes && again.role == token.role, "with the same rights")
            expect(again.expiresAt.seconds == token.expiresAt.seconds, "for the same time")
        },
        FuzzTarget("authorization-form", longest: 1024) { bytes in
            guard let parameters = try? OAuthParameters(form: bytes) else { return }
            let uri = parameters["redirect_uri"] ?? "http://127.0.0.1/callback"
            guard let request = try? AuthorizationRequest(parameters, app: app, redirectURI: uri) else { return }
            expect(request.scopes.isSubset(of: app.scopes), "no scope is given that the app may not have")
            expect(request.codeChallenge.utf8.count == 43, "a challenge is one of S256")
            let ticket = SignInTicket.seal(request, until: Instant(microseconds: 2), by: sealing)
            let opened = SignInTicket.open(ticket, at: Instant(microseconds: 1), by: sealing)
            expect(opened == request || request.state == "" || request.nonce == "", "a ticket says what was asked")
            expect(SignInTicket.open(ticket, at: Instant(microseconds: 2), by: sealing) == nil, "until it has run out")
        },
        FuzzTarget("ticket", longest: 512) { bytes in
            expect(
                SignInTicket.open(bytes.anyText, at: Instant(microseconds: .min), by: sealing) == nil,
                "nothing opens unsealed")
            let sealed = Base64URL.encode(sealing.seal(bytes, for: "sign-in request"))
            _ = SignInTicket.open(sealed, at: Instant(microseconds: .min), by: sealing)
        },
        FuzzTarget("sealed", longest: 256) { bytes in
            expect((try? sealing.open(bytes, for: "fuzz")) == nil, "nothing opens that was not sealed")
            expect((try? SigningKey(opening: bytes, by: sealing)) == nil, "and no key comes of it")
            let sealed = sealing.seal(bytes, for: "fuzz")
            expect((try? sealing.open(sealed, for: "fuzz")) == bytes, "what was sealed opens")
            expect((try? sealing.open(sealed, for: "other")) == nil, "but not as something else")
        },
        FuzzTarget("redirect", longest: 256) { bytes in
            let text = bytes.anyText
            expect(RedirectURI.isRegistered(text, among: [text]), "what is registered is known")
            if WebAddress.isUniversalLink(text) { isPlain(text, but: "*") }
            guard WebAddress.isRedirect(text) else { return }
            isPlain(text, but: "")
            if RedirectURI.isRegistered(text, among: ["http://127.0.0.1/callback"]) {
                expect(text.hasPrefix("http://127.0.0.1") && text.hasSuffix("/callback"), "only the port may differ")
            }
            let answer = RedirectURI.answer(text, [("code", "a b&c"), ("state", nil), ("iss", issuer)])
            expect(
                answer.hasPrefix(text) && answer.contains("code=a%20b%26c"), "an answer is the address and its query")
        },
    ]

    private static let issuer = "https://id.example"
    private static let key = SigningKey(seed: [UInt8](repeating: 7, count: 32))
    private static let keys = key.map { [$0.keyID: $0.publicKey] } ?? [:]
    private static let sealing = RootKey(SecretBytes(copying: [UInt8](repeating: 9, count: 32))).subkey(.sealing)
    private static let app = AppFacts(
        id: AppID(stored: "chat"), name: "Chat", kind: .app, parent: nil, redirectURIs: ["http://127.0.0.1/callback"],
        scopes: [.openid, .mailbox, .offlineAccess])

    /// What every address that is registered must be, since it is compared byte by byte and sent as a header.
    private static func isPlain(_ text: String, but allowed: String) {
        let bytes = Array(text.utf8)
        expect(bytes.allSatisfy { (0x21...0x7E).contains($0) }, "an address is visible ASCII")
        expect(!bytes.contains { "#\\\"<>^`{|}".utf8.contains($0) }, "without characters of no URL")
        for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
            let digits = String(decoding: bytes[(index + 1)...].prefix(2), as: UTF8.self)
            expect(Hex.decode(digits)?.count == 1, "with whole escapes")
        }
        guard text.hasPrefix("https:") || text.hasPrefix("http:") else { return }
        let host = text.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        expect(!host.contains("@") && !host.isEmpty, "with a host and no user")
    }
}
