import API
import Crypto
import Domain
import HTTP
import Store

/// Signs out (RFC 7009): a refresh or access token of this client ends its session.
///
/// A token that is unknown, expired or another client's is answered like one that was revoked.
struct RevokeToken: OpenEndpoint {
    static let route = Route.form("/oauth2/revoke")
    let parts: Parts

    func respond(to request: Request) async throws(Failure) -> Response {
        if let standing = parts.excess(of: request.head) { return OAuthError.tooMany(standing) }
        guard request.head.headers["authorization"] == nil else { return OAuthError.publicClientsOnly.response }
        let client: AppID
        let token: String
        do throws(OAuthError) {
            let form = try OAuthParameters(form: request.body)
            client = try form.client()
            token = try form.required("token", "token is missing")
        } catch {
            return error.response
        }
        return try await parts.whileAway(OAuthError.away.response, to: request.head) {
            () async throws(Failure) -> Response in
            try await revoke(token, of: client, requestID: request.head.id)
        }
    }

    private func revoke(_ token: String, of client: AppID, requestID: String) async throws(Failure) -> Response {
        let hash = parts.secrets.refreshTokens.hash(token)
        let claimed = try? parts.judge.known(token).token.session
        let isKnown = try await parts.database.transaction { (tx) throws(Failure) in
            guard try tx.appFacts(client) != nil else { return false }
            let found = claimed == nil ? try tx.session(ofRefreshToken: hash) : claimed
            guard let id = found, let session = try tx.liveSession(id), session.app == client,
                try tx.endSession(id, because: .signedOut)
            else { return true }
            let actor = Actor(
                kind: .account, id: session.account.description, app: client, session: id, requestID: requestID)
            tx.record(Deed(.sessionEnded, of: .session(id), reason: SessionEnding.signedOut.rawValue), by: actor)
            return true
        }
        guard isKnown else { return OAuthError.unknownClient.response }
        return Response(status: 200, headers: [("Cache-Control", "no-store")], body: .empty)
    }
}
