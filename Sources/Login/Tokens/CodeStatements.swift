import Domain
import Postgres
import Store
import Wire

/// An authorization code as the database keeps it.
struct StoredCode: Sendable {
    let account: AccountID
    let app: AppID
    let redirectURI: String
    let challenge: String
    let scopes: Scopes
    let nonce: String?
    let signedInAt: Instant
    let expiresAt: Instant
    /// The session it was redeemed for.
    let session: SessionID?
}

extension Transaction {
    func insertCode(
        _ hash: [UInt8], for request: AuthorizationRequest, account: AccountID, scopes: Scopes, expiresAt: Instant
    ) throws(Failure) {
        try execute(
            """
            INSERT INTO authorization_code (hash, account_id, app_id, redirect_uri, code_challenge, scopes, nonce,
                                            signed_in_at, expires_at)
            VALUES (\(hash), \(account), \(request.app), \(request.redirectURI), \(request.codeChallenge),
                    \(scopes.ordered), \(request.nonce), \(now), \(expiresAt))
            """)
    }

    func code(_ hash: [UInt8]) throws(Failure) -> StoredCode? {
        try first(
            """
            SELECT account_id, app_id, redirect_uri, code_challenge, scopes, nonce, signed_in_at, expires_at, session_id
            FROM authorization_code
            WHERE hash = \(hash)
            """
        ) { row throws(PostgresError) in
            let scopes: [String] = try row[4]
            return StoredCode(
                account: try row[0], app: try row[1], redirectURI: try row[2], challenge: try row[3],
                scopes: Scopes(scopes.compactMap(Scope.init(rawValue:))), nonce: try row[5], signedInAt: try row[6],
                expiresAt: try row[7], session: try row[8])
        }
    }

    /// Takes a code for a session; `false` when it was taken or withdrawn meanwhile.
    func take(_ hash: [UInt8], for session: SessionID) throws(Failure) -> Bool {
        try execute(
            """
            UPDATE authorization_code
            SET session_id = \(session)
            WHERE hash = \(hash) AND session_id IS NULL
            """) == 1
    }
}
