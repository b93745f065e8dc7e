import API
import Crypto
import Domain
import Store
import Wire

/// Says who is calling.
final class TokenJudge: Authenticator {
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
        let known = try known(token)
        switch watch.standing(of: known) {
        case .ended: throw .unauthenticated(.sessionEnded)
        case .unknown: return .unsure
        case .live(let device): return .proven(caller(known.token, device, requestID))
        }
    }

    func confirm(_ token: String, requestID: String) async throws(Failure) -> Caller {
        let claims = try known(token).token
        let session = try await database.read { (tx) throws(Failure) in try tx.liveSession(claims.session) }
        guard let session else { throw .unauthenticated(.sessionEnded) }
        if let device = session.device { watch.bind(claims.session, to: device) }
        return caller(claims, session.device, requestID)
    }

    /// A token that is ours and has not expired; whether its session has ended is another question.
    func known(_ text: String) throws(Failure) -> KnownToken {
        guard let known = cache[text] ?? verified(text), known.token.isCurrent(at: database.clock.now()) else {
            throw .unauthenticated(.badToken)
        }
        return known
    }

    private func verified(_ text: String) -> KnownToken? {
        guard let payload = try? JWS.verify(text, keys: ring.verifying, type: AccessToken.type),
            let token = AccessToken(payload: payload, issuer: issuer)
        else { return nil }
        let known = KnownToken(token)
        cache.keep(known, for: text)
        return known
    }

    private func caller(_ token: AccessToken, _ device: DeviceID?, _ requestID: String) -> Caller {
        Caller(
            account: token.account, role: token.role, app: token.app, session: token.session, scopes: token.scopes,
            expiresAt: token.expiresAt, device: device, requestID: requestID)
    }
}
