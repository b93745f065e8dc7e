import API
import Domain
import HTTP
import Store

/// Exchanges a code or a refresh token for an access token (RFC 6749 §3.2).
struct IssueToken: OpenEndpoint {
    static let route = Route.form("/oauth2/token", produces: "application/json")
    let parts: Parts

    func respond(to request: Request) async throws(Failure) -> Response {
        if let standing = parts.excess(of: request.head) { return OAuthError.tooMany(standing) }
        guard request.head.headers["authorization"] == nil else { return OAuthError.publicClientsOnly.response }
        let grant: TokenGrant
        do throws(OAuthError) {
            grant = try TokenGrant(OAuthParameters(form: request.body))
        } catch {
            return error.response
        }
        return try await parts.whileAway(OAuthError.away.response, to: request.head) {
            () async throws(Failure) -> Response in
            switch try await decide(grant, requestID: request.head.id) {
            case .granted(let granted): try answer(granted)
            case .refused(let error): error.response
            }
        }
    }

    private func answer(_ granted: Granted) throws(Failure) -> Response {
        if granted.isRepeated { parts.observe(.refreshRepeated) }
        return try parts.mint.answer(granted)
    }

    private func decide(_ grant: TokenGrant, requestID: String) async throws(Failure) -> Decision {
        let (secrets, settings) = (parts.secrets, parts.settings)
        return try await parts.database.transaction { (tx) throws(Failure) in
            switch grant {
            case .code(let grant): try tx.redeem(grant, secrets, settings, requestID: requestID)
            case .refresh(let grant): try tx.refresh(grant, secrets, settings, requestID: requestID)
            }
        }
    }
}
