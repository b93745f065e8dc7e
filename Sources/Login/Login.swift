// Login: signing in, and everything about sessions and tokens.
//
// OAuth 2.0 authorization code with PKCE for public clients, OpenID Connect's ID token on top, refresh tokens that rotate,
// sessions that end everywhere within two seconds. Codes and refresh tokens are kept as keyed hashes only; access tokens
// are not kept at all.
//
// It reads accounts and apps and writes nothing of them but a password's hash at the present cost. It knows no device
// beyond its id, and never sees a password except to hand it to a lane that compares it.
public import API
public import Crypto
public import Domain
import HTTP
public import Store
import Wire

/// Signing in, sessions and tokens.
public final class Login: Sendable {
    private let parts: Parts
    private let passwords: Passwords
    private let proxies: TrustedProxies

    /// Makes the room; `reserve` has connections that no request uses, so that ended sessions are heard of under any load.
    public init(
        database: Database, reserve: Database, issuer: String, keys: RootKey, passwords: Passwords,
        proxies: TrustedProxies,
        settings: Settings = Settings(), observe: @escaping Observe
    ) {
        self.passwords = passwords
        self.proxies = proxies
        parts = Parts(
            database, reserve, issuer: issuer, keys: keys, proxies: proxies, settings: settings, observe: observe)
    }

    public var endpoints: [Mounted] {
        let database = parts.database
        let metadata = PublicDocument.metadata(issuer: parts.issuer)
        return [
            ShowOpenIDConfiguration(metadata: metadata).mounted,
            ShowAuthorizationServer(metadata: metadata).mounted,
            PublishKeys(ring: parts.ring).mounted,
            ShowSignIn(parts: parts).mounted,
            SignIn(parts: parts, passwords: passwords, proxies: proxies).mounted,
            IssueToken(parts: parts).mounted,
            RevokeToken(parts: parts).mounted,
            ShowSession(database: database).mounted,
            ListSessions(database: database).mounted,
            EndSession(database: database).mounted,
        ]
    }

    public var services: [any Service] {
        [
            parts.watch,
            parts.unknownNames,
            rotation,
            SessionSweeper(database: parts.database, observe: parts.observe),
        ]
    }

    public var authenticator: any Authenticator { parts.judge }

    /// Loads the signing keys, making the first one when there is none, and reads which sessions have ended.
    ///
    /// To be done before the server calls itself ready.
    public func prepare() async throws(Failure) {
        do throws(Passwords.Full) {
            try await passwords.prepare()
        } catch {
            throw error.failure
        }
        try await rotation.ensureKey()
        try await parts.watch.read()
    }

    private var rotation: KeyRotation {
        KeyRotation(ring: parts.ring, database: parts.database, settings: parts.settings, observe: parts.observe)
    }

    /// Whether this node has heard within two seconds which sessions have ended.
    public var isFresh: Bool { parts.watch.isFresh }
}

/// What the endpoints of this room share.
struct Parts: Sendable {
    let database: Database
    let issuer: String
    let settings: Login.Settings
    let observe: Observe
    let secrets: Secrets
    let ring: KeyRing
    let watch: SessionWatch
    let mint: TokenMint
    let judge: TokenJudge
    let unknownNames: UnknownNames
    private let proxies: TrustedProxies
    private let places: RateLimit<[UInt8]>

    init(
        _ database: Database, _ reserve: Database, issuer: String, keys: RootKey, proxies: TrustedProxies,
        settings: Login.Settings, observe: @escaping Observe
    ) {
        self.database = database
        self.issuer = issuer
        self.settings = settings
        self.observe = observe
        self.proxies = proxies
        places = RateLimit(settings.byPlace)
        unknownNames = UnknownNames(database: database)
        secrets = Secrets(keys)
        ring = KeyRing(sealing: secrets.sealing)
        watch = SessionWatch(database: reserve, tokenLife: settings.accessTokenLife, observe: observe)
        mint = TokenMint(issuer: issuer, life: settings.accessTokenLife, ring: ring)
        judge = TokenJudge(issuer: issuer, database: database, ring: ring, watch: watch)
        database.bell.listen { [weak watch] doorbell, _ in
            if case .sessionEnded(let session) = doorbell { watch?.note(session) }
        }
    }

    /// How the place that a request comes from stands, when it has asked for too much; unknown places are not counted.
    func excess(of head: RequestHead) -> RateStanding? {
        guard let place = proxies.network(of: head) else { return nil }
        let standing = places.take(place, at: database.clock.now())
        guard standing.retryAfter != nil else { return nil }
        observe(.limited(by: standing.rate.name))
        return standing
    }

    /// Answers an outage in the form that the caller reads, and tells operators of it as the gate would.
    func whileAway(
        _ answer: Response, to head: RequestHead, _ body: () async throws(Failure) -> Response
    ) async throws(Failure) -> Response {
        do throws(Failure) {
            return try await body()
        } catch {
            switch error {
            case .unavailable(let cause):
                observe(.failed(requestID: head.id, route: head.routePattern, cause: cause))
            case .busy(let queue): observe(.turnedAway(from: queue))
            default: throw error
            }
            return answer
        }
    }
}

/// The keyed hashes under which secrets are kept, the seal of what is stored, and that of what leaves the server and comes
/// back.
struct Secrets: Sendable {
    let codes: KeyedHash
    let refreshTokens: KeyedHash
    let successors: KeyedHash
    let throttle: KeyedHash
    /// For signing keys at rest.
    let sealing: Sealing
    /// For the sign-in page's hidden field, which anybody may send back.
    let tickets: Sealing

    init(_ keys: RootKey) {
        codes = keys.subkey(.authorizationCode)
        refreshTokens = keys.subkey(.refreshToken)
        successors = keys.subkey(.successor)
        throttle = keys.subkey(.throttle)
        sealing = keys.subkey(.sealing)
        tickets = keys.subkey(.signInTicket)
    }

    /// The token that follows a refresh token: always the same, so that a lost answer can be given again, and so that
    /// two thieves of one token never get two chains.
    func successor(of token: String) -> String { Base64URL.encode(successors.hash(token)) }
}
