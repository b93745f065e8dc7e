import API
import Crypto
import Domain
import Store
import Wire

/// Says who is calling.
struct TokenJudge: Authenticator {
    private let issuer: String
    private let database: Database
    private let ring: KeyRing
    private let watch: SessionWatch
    private let cache = TokenCache()

    init(issuer: String, database: Database, ring: KeyRing, watch: SessionWatch) {
        self.issuer = issuer
        self.database = database
        self.ring = ring
        self.watch = watch
    }

    func judge(_ token: String, requestID: String) throws(Failure) -> Standing {
        let claims = try claims(of: token)
        switch watch.standing(of: claims.session) {
        case .ended: throw .unauthenticated(.sessionEnded)
        case .unknown: return .unsure
        case .live(let device): return .proven(caller(claims, device, requestID))
        }
    }

    func confirm(_ token: String, requestID: String) async throws(Failure) -> Caller {
        let claims = try claims(of: token)
        let session = try await database.read { (tx) throws(Failure) in try tx.liveSession(claims.session) }
        guard let session else { throw .unauthenticated(.sessionEnded) }
        if let device = session.device { watch.bind(claims.session, to: device) }
        return caller(claims, session.device, requestID)
    }

    /// The claims of a token that is ours and has not expired; whether its session has ended is another question.
    func claims(of text: String) throws(Failure) -> AccessToken {
        guard let token = cache[text] ?? verified(text), token.isCurrent(at: database.clock.now()) else {
            throw .unauthenticated(.badToken)
        }
        return token
    }

    private func verified(_ text: String) -> AccessToken? {
        guard let payload = try? JWS.verify(text, keys: ring.verifying, type: AccessToken.type),
            let token = AccessToken(payload: payload, issuer: issuer)
        else { return nil }
        cache.keep(token, for: text)
        return token
    }

    private func caller(_ token: AccessToken, _ device: DeviceID?, _ requestID: String) -> Caller {
        Caller(
            account: token.account, role: token.role, app: token.app, session: token.session, scopes: token.scopes,
            expiresAt: token.expiresAt, device: device, requestID: requestID)
    }
}
