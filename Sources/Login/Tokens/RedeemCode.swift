import Crypto
import Domain
import Store
import Wire

extension Transaction {
    /// Redeems a code for a new session.
    ///
    /// Rows are locked in the order in which a change of app or account locks them: app, account, code, session.
    func redeem(
        _ grant: CodeGrant, _ secrets: Secrets, _ settings: Login.Settings, requestID: String
    ) throws(Failure) -> Decision {
        let hash = secrets.codes.hash(grant.code)
        // Found before anything is locked: who only guesses writes nothing. What changes meanwhile, `take` notices.
        guard let code = try code(hash), code.app == grant.client else {
            return try appFacts(grant.client) == nil ? .refused(.unknownClient) : .badCode
        }
        guard let app = try holdApp(code.app) else { return .refused(.unknownClient) }
        guard code.session == nil else { return try refuseReuse(of: code, requestID: requestID) }
        guard code.answers(grant, at: now), let account = try holdAccount(code.account)?.account, !account.isDisabled
        else { return .badCode }
        // App and role may have changed since the page was answered.
        let scopes = code.scopes.intersection(app.scopes).intersection(account.role.scopes)
        guard !scopes.isEmpty else { return .badCode }
        let session: SessionID = newID()
        guard try take(hash, for: session) else {
            guard let taken = try self.code(hash) else { return .badCode }
            return try refuseReuse(of: taken, requestID: requestID)
        }
        try start(session, of: account, in: app.id, scopes: scopes, settings, requestID: requestID)
        let idToken = IDToken(
            account: account, session: session, app: app.id, nonce: code.nonce, signedInAt: code.signedInAt,
            hasProfile: scopes.contains(.profile))
        return .granted(
            Granted(
                account: account, app: app.id, session: session, scopes: scopes, at: now,
                tokenID: entropy.uuid(at: now),
                refreshToken: try firstRefreshToken(of: session, scopes: scopes, secrets),
                idToken: scopes.contains(.openid) ? idToken : nil))
    }

    private func start(
        _ session: SessionID, of account: AccountFacts, in app: AppID, scopes: Scopes, _ settings: Login.Settings,
        requestID: String
    ) throws(Failure) {
        // Without a refresh token the session is over when its only access token is.
        let life = scopes.contains(.offlineAccess) ? settings.sessionLife : settings.accessTokenLife
        try insertSession(
            session, of: account, in: app, scopes: scopes, expiresAt: now + min(life, settings.sessionLimit))
        let facts: JSON = [
            "scopes": .array(scopes.ordered.map { .string($0) }), "role": .string(account.role.rawValue),
        ]
        let actor = Actor(
            kind: .account, id: account.id.description, app: app, session: session, requestID: requestID)
        record(Deed(.sessionStarted, of: .session(session), after: facts), by: actor)
    }

    private func firstRefreshToken(
        of session: SessionID, scopes: Scopes, _ secrets: Secrets
    ) throws(Failure) -> String? {
        guard scopes.contains(.offlineAccess) else { return nil }
        let token = Base64URL.encode(entropy.bytes(32))
        try insertRefreshToken(secrets.refreshTokens.hash(token), of: session)
        return token
    }

    /// A code that comes twice has been seen by somebody else: what it gave is taken back (RFC 6749 §4.1.2).
    private func refuseReuse(of code: StoredCode, requestID: String) throws(Failure) -> Decision {
        guard let session = code.session, try endSession(session, because: .codeReused) else { return .badCode }
        let deed = Deed(
            .authorizationCodeReused, .refused, of: .session(session),
            after: ["account": .string(code.account.description)], reason: SessionEnding.codeReused.rawValue)
        record(deed, by: Actor(kind: .anonymous, app: code.app, session: session, requestID: requestID))
        return .badCode
    }
}

extension StoredCode {
    /// Whether whoever redeems the code is who asked for it, and in time.
    fileprivate func answers(_ grant: CodeGrant, at now: Instant) -> Bool {
        expiresAt > now && redirectURI.utf8.elementsEqual(grant.redirectURI.utf8)
            && PKCE.matches(verifier: grant.verifier, challenge: challenge)
    }
}
