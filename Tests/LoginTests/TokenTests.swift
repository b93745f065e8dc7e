import Crypto
import Domain
import HTTP
import Testing
import Wire

@testable import Login

@Suite struct TokenTests {
    private let now = Instant(microseconds: 1_800_000_000_000_000)
    private let token = AccessToken(
        account: ID(UUID(high: 1, low: 2)), role: .auditor, app: AppID(stored: "messenger"),
        session: ID(UUID(high: 3, low: 4)), scopes: [.openid, .mailboxRead],
        issuedAt: Instant(microseconds: 1_800_000_000_000_000), life: .seconds(600))

    @Test("An access token's claims come back as they went in")
    func roundTrip() throws {
        let payload = token.payload(issuer: "https://id.example", id: UUID(high: 5, low: 6))
        let read = try #require(AccessToken(payload: payload, issuer: "https://id.example"))
        #expect(read.account == token.account)
        #expect(read.role == .auditor)
        #expect(read.session == token.session)
        #expect(read.scopes == token.scopes)
        #expect(read.expiresAt == now + .seconds(600))
    }

    @Test("A token of another issuer is refused, and so is one that lacks a claim")
    func foreign() throws {
        let payload = token.payload(issuer: "https://id.example", id: UUID(high: 5, low: 6))
        #expect(AccessToken(payload: payload, issuer: "https://other.example") == nil)
        let claims = try #require(try JSON.parse(payload).fields)
        for name in ["iss", "aud", "sub", "role", "client_id", "sid", "scope", "iat", "exp"] {
            let rest = JSON.object(JSON.Object(claims.filter { $0.key != name }))
            #expect(AccessToken(payload: rest.encoded(), issuer: "https://id.example") == nil, "without \(name)")
        }
    }

    @Test("A token ends on the second, and one from a minute ahead is not valid yet")
    func life() {
        #expect(token.isCurrent(at: now))
        #expect(token.isCurrent(at: now + .seconds(599)))
        #expect(!token.isCurrent(at: now + .seconds(600)))
        #expect(token.isCurrent(at: now - .seconds(60)))
        #expect(!token.isCurrent(at: now - .seconds(61)))
    }

    @Test("The cache never holds more than twice its half, and keeps what is used")
    func cache() {
        let cache = TokenCache(half: 4, shards: 1)
        for number in 0..<100 {
            cache.keep(KnownToken(token), for: "\(number)")
            #expect(cache["0"] != nil)
        }
        #expect((0..<100).count { cache["\($0)"] != nil } <= 8)
    }

    @Test("A new key is due at once when there is none, and ahead of time when the newest has signed long enough")
    func rotation() {
        let settings = Login.Settings()
        #expect(KeyRotation.due(after: [], at: now, settings) == now)
        let key = StoredKey(
            id: "k", publicKey: [], sealedSeed: [], activatesAt: now, retiresAt: now + .seconds(31 * 86_400))
        #expect(KeyRotation.due(after: [key], at: now + .seconds(30 * 86_400 - 1), settings) == nil)
        let later = now + .seconds(30 * 86_400)
        #expect(KeyRotation.due(after: [key], at: later, settings) == later + .seconds(900))
    }

    @Test("The next key signs only from when it becomes active; both are published")
    func activation() throws {
        let ring = KeyRing(sealing: RootKey(SecretBytes(random: RootKey.size)).subkey(.sealing))
        let old = ring.made(activatesAt: now, retiresAt: now + .seconds(5_000))
        let next = ring.made(activatesAt: now + .seconds(900), retiresAt: now + .seconds(9_000))
        try ring.load([old, next])
        #expect(ring.signer(at: now + .seconds(899))?.keyID == old.id)
        #expect(ring.signer(at: now + .seconds(900))?.keyID == next.id)
        #expect(ring.signer(at: now - .seconds(3_600))?.keyID == old.id, "the clock was set back: somebody has to sign")
        #expect(Set(ring.verifying.keys) == [old.id, next.id])
        #expect(ring.signer(at: now + .seconds(9_000)) == nil)
    }

    @Test("A key that was sealed under another root key is not loaded")
    func foreignKey() {
        let ring = KeyRing(sealing: RootKey(SecretBytes(random: RootKey.size)).subkey(.sealing))
        let other = KeyRing(sealing: RootKey(SecretBytes(random: RootKey.size)).subkey(.sealing))
        let key = other.made(activatesAt: now, retiresAt: now + .seconds(1))
        #expect(throws: Failure.self) { try ring.load([key]) }
    }

    @Test(
        "An exchanged refresh token may come again for ten minutes, until its successor is used",
        arguments: [(nil, false, true), (0, false, true), (600, false, true), (601, false, false), (0, true, false)])
    func lostAnswer(ago: Int?, isSuccessorUsed: Bool, isAllowed: Bool) {
        let record = RefreshTokenRecord(usedAt: ago.map { now - .seconds($0) }, isSuccessorUsed: isSuccessorUsed)
        #expect(record.mayBeExchanged(at: now, within: .seconds(600)) == isAllowed)
    }

    @Test(
        "A form from another site is refused; a client that is no browser says nothing and is not",
        arguments: [
            ([:], true), (["Sec-Fetch-Site": "same-origin"], true), (["Sec-Fetch-Site": "none"], true),
            (["Sec-Fetch-Site": "cross-site"], false), (["Sec-Fetch-Site": "same-site"], false),
            (["Origin": "https://id.example"], true), (["Origin": "https://ID.example"], true),
            (["Origin": "https://evil.example"], false), (["Origin": "null"], false),
            (["Origin": "https://id.example:444"], false), (["Origin": "http://id.example"], false),
            (["Origin": "https://id.example", "Sec-Fetch-Site": "cross-site"], false),
        ])
    func sameSite(headers: [String: String], isAllowed: Bool) {
        let head = RequestHead(
            method: .post, rawPath: "/oauth2/authorize",
            headers: Headers(headers.map { (name: $0.key, value: $0.value) }),
            peer: Address(bytes: [127, 0, 0, 1], port: 1))
        #expect(SameSite(issuer: "https://id.example/sub").allows(head) == isAllowed)
    }
}
