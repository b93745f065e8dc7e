public import Domain
import Postgres
import Wire

/// Why a session ended; kept with it, and told in the audit log.
public enum SessionEnding: String, Sendable {
    case signedOut = "signed-out"
    case endedByAdministrator = "ended-by-administrator"
    case accountChanged = "account-changed"
    case appChanged = "app-changed"
    case appRemoved = "app-removed"
    case deviceRemoved = "device-removed"
    case tokenReused = "token-reused"
    case codeReused = "code-reused"
    case backupRestored = "backup-restored"
    case expired
}

// What more than one feature must know or change about sessions.

extension Query<Bool> {
    /// Whether the session has not ended.
    public static func isLive(_ id: SessionID) -> Self {
        Query("SELECT ended_at IS NULL FROM session WHERE id = \(id)") { row throws(PostgresError) in try row[0] }
    }
}

extension Transaction {
    /// The device a live session is bound to, holding the session so that it cannot end meanwhile.
    public func holdSession(_ id: SessionID) throws(Failure) -> (device: DeviceID?, scopes: Scopes) {
        let found = try first(
            """
            SELECT device_id, scopes
            FROM session
            WHERE id = \(id) AND ended_at IS NULL
            FOR NO KEY UPDATE
            """
        ) { row throws(PostgresError) in (try row[0] as DeviceID?, try row[1] as [String]) }
        guard let found else { throw .unauthenticated(.sessionEnded) }
        return (found.0, Scopes(found.1.compactMap(Scope.init(rawValue:))))
    }

    public func bind(_ session: SessionID, to device: DeviceID) throws(Failure) {
        try execute("UPDATE session SET device_id = \(device) WHERE id = \(session)")
    }

    /// Ends one live session; `false` when there is none.
    ///
    /// It is refused everywhere within two seconds.
    @discardableResult
    public func endSession(_ id: SessionID, because ending: SessionEnding) throws(Failure) -> Bool {
        try !end("WHERE id = \(id) AND ended_at IS NULL", because: ending).isEmpty
    }

    /// Ends every session of an account, and those that a code just handed out would begin.
    @discardableResult
    public func endSessions(of account: AccountID, because ending: SessionEnding) throws(Failure) -> [SessionID] {
        try execute("DELETE FROM authorization_code WHERE account_id = \(account) AND session_id IS NULL")
        return try end("WHERE account_id = \(account) AND ended_at IS NULL", because: ending)
    }

    @discardableResult
    public func endSessions(on device: DeviceID, because ending: SessionEnding) throws(Failure) -> [SessionID] {
        try end("WHERE device_id = \(device) AND ended_at IS NULL", because: ending)
    }

    /// Ends every session in an app, and those that a code just handed out would begin.
    @discardableResult
    public func endSessions(in app: AppID, because ending: SessionEnding) throws(Failure) -> [SessionID] {
        try execute("DELETE FROM authorization_code WHERE app_id = \(app) AND session_id IS NULL")
        return try end("WHERE app_id = \(app) AND ended_at IS NULL", because: ending)
    }

    /// Ends every session there is and what could begin one; how many there were.
    ///
    /// Without bells: no server runs yet, and there may be very many.
    public func endEverySession(because ending: SessionEnding) throws(Failure) -> Int {
        let touched = try batch([
            """
            UPDATE session
            SET ended_at = clock_timestamp(), ended_because = \(ending.rawValue)
            WHERE ended_at IS NULL
            """,
            "DELETE FROM refresh_token", "DELETE FROM authorization_code",
        ])
        return touched[0]
    }

    private func end(_ which: SQL, because ending: SessionEnding) throws(Failure) -> [SessionID] {
        // The end is stamped by the database's clock: every node looks for recent ends by that same clock.
        let ended = try query(
            "UPDATE session SET ended_at = clock_timestamp(), ended_because = \(ending.rawValue) " + which
                + " RETURNING id"
        ) { row throws(PostgresError) in try row[0] as SessionID }
        guard !ended.isEmpty else { return [] }
        try execute("DELETE FROM refresh_token WHERE session_id = ANY(\(ended))")
        for session in ended { ring(.sessionEnded(session)) }
        return ended
    }
}
