import API
import Crypto
import Domain
import HTTP
import Store
import Wire

/// What a grant gave: facts out of the transaction, to be made into tokens after its commit.
struct Granted: Sendable {
    let account: AccountFacts
    let app: AppID
    let session: SessionID
    /// Of this access token; the session's, or fewer.
    let scopes: Scopes
    let at: Instant
    let tokenID: UUID
    let refreshToken: String?
    let idToken: IDToken?
    /// The refresh token had been exchanged before: an answer was lost, or two hold the token.
    var isRepeated = false
}

/// Makes signed tokens.
struct TokenMint: Sendable {
    let issuer: String
    let life: Duration
    let ring: KeyRing

    /// The answer of the token endpoint (RFC 6749 §5.1).
    func answer(_ granted: Granted) throws(Failure) -> Response {
        guard let key = ring.signer(at: granted.at) else { throw .unavailable(cause: "no signing key is active") }
        let token = AccessToken(
            account: granted.account.id, role: granted.account.role, app: granted.app, session: granted.session,
            scopes: granted.scopes, issuedAt: granted.at, life: life)
        let payload = token.payload(issuer: issuer, id: granted.tokenID)
        let idToken = granted.idToken.map { token in
            JWS.sign(
                type: IDToken.type, payload: token.payload(issuer: issuer, issuedAt: granted.at, life: life), key: key)
        }
        return .json { writer in
            writer.beginObject()
            writer.field("access_token", JWS.sign(type: AccessToken.type, payload: payload, key: key))
            writer.field("token_type", "Bearer")
            writer.field("expires_in", life.components.seconds)
            writer.field("scope", granted.scopes.spaceSeparated)
            writer.field("refresh_token", granted.refreshToken)
            writer.field("id_token", idToken)
            writer.endObject()
        }
    }
}
