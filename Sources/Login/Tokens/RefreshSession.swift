import Crypto
import Domain
import Store
import Wire

extension Transaction {
    /// Exchanges a refresh token for its successor and a new access token.
    ///
    /// The successor is derived from the token, so a client whose answer was lost asks again with the token it has and
    /// gets the same one: for a while, and until the successor is used. Any other use of a token that was exchanged
    /// means that two hold it, and ends the session; a token whose session has ended is merely not valid.
    func refresh(
        _ grant: RefreshGrant, _ secrets: Secrets, _ settings: Login.Settings, requestID: String
    ) throws(Failure) -> Decision {
        guard let app = try appFacts(grant.client) else { return .refused(.unknownClient) }
        let hash = secrets.refreshTokens.hash(grant.token)
        guard let session = try holdSession(ofRefreshToken: hash), session.app == app.id,
            let token = try refreshToken(hash)
        else { return .badRefreshToken }
        guard token.mayBeExchanged(at: now, within: settings.lostAnswerWindow) else {
            try endSession(session, reusedBy: requestID)
            return .badRefreshToken
        }
        let limit = session.createdAt + settings.sessionLimit
        guard limit > now else {
            try expire(session.id)
            return .badRefreshToken
        }
        guard let account = try accountFacts(session.account), !account.isDisabled else { return .badRefreshToken }
        let granted = session.scopes.intersection(app.scopes).intersection(account.role.scopes)
        guard granted.contains(.offlineAccess) else { return .badRefreshToken }
        let scopes = grant.scopes ?? granted
        guard scopes.isSubset(of: granted) else {
            return .refused(OAuthError(.invalidScope, "scope is wider than what was granted"))
        }
        let successor = secrets.successor(of: grant.token)
        if token.usedAt == nil {
            try rotate(
                hash, to: secrets.refreshTokens.hash(successor), of: session.id, forgetting: now - Self.memory)
        }
        try prolongSession(session.id, until: min(now + settings.sessionLife, limit))
        return .granted(
            Granted(
                account: account, app: app.id, session: session.id, scopes: scopes, at: now,
                tokenID: entropy.uuid(at: now), refreshToken: successor, idToken: nil, isRepeated: token.usedAt != nil))
    }

    private func endSession(_ session: SessionRecord, reusedBy requestID: String) throws(Failure) {
        try endSession(session.id, because: .tokenReused)
        record(
            Deed(
                .refreshTokenReused, .refused, of: .session(session.id),
                after: ["account": .string(session.account.description)], reason: SessionEnding.tokenReused.rawValue),
            by: Actor(kind: .anonymous, app: session.app, session: session.id, requestID: requestID))
    }

    /// How long a token that was exchanged is recognised; a session that is refreshed all day keeps a thousand of them.
    private static var memory: Duration { .seconds(7 * 86_400) }
}

extension RefreshTokenRecord {
    /// Whether it has not been used, or only so that its answer may have been lost.
    func mayBeExchanged(at now: Instant, within window: Duration) -> Bool {
        guard let usedAt else { return true }
        return !isSuccessorUsed && now.duration(since: usedAt) <= window
    }
}
