import Domain
import Postgres
import Store
import Wire

/// What has become of a refresh token.
struct RefreshTokenRecord: Sendable {
    let usedAt: Instant?
    /// Whether the token that followed it has been used in its turn.
    let isSuccessorUsed: Bool
}

extension Transaction {
    /// To be read after its session is held: another request may have used the token meanwhile.
    func refreshToken(_ hash: [UInt8]) throws(Failure) -> RefreshTokenRecord? {
        try first(
            """
            SELECT t.used_at, s.used_at IS NOT NULL
            FROM refresh_token t
            LEFT JOIN refresh_token s ON s.hash = t.successor
            WHERE t.hash = \(hash)
            """
        ) { row throws(PostgresError) in RefreshTokenRecord(usedAt: try row[0], isSuccessorUsed: try row[1]) }
    }

    func insertRefreshToken(_ hash: [UInt8], of session: SessionID) throws(Failure) {
        try execute(
            "INSERT INTO refresh_token (hash, session_id, issued_at) VALUES (\(hash), \(session), \(now))")
    }

    /// Marks a token used and puts its successor in its place; tokens used before `forgotten` are no longer recognised.
    func rotate(
        _ hash: [UInt8], to successor: [UInt8], of session: SessionID, forgetting forgotten: Instant
    ) throws(Failure) {
        try batch([
            "UPDATE refresh_token SET used_at = \(now), successor = \(successor) WHERE hash = \(hash)",
            "INSERT INTO refresh_token (hash, session_id, issued_at) VALUES (\(successor), \(session), \(now))",
            "DELETE FROM refresh_token WHERE session_id = \(session) AND used_at < \(forgotten)",
        ])
    }

    /// The session that a refresh token belongs to, used or not.
    func session(ofRefreshToken hash: [UInt8]) throws(Failure) -> SessionID? {
        try first("SELECT session_id FROM refresh_token WHERE hash = \(hash)") { row throws(PostgresError) in
            try row[0] as SessionID
        }
    }
}
