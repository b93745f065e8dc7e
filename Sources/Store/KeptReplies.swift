public import Domain
import Postgres
import Wire

/// An answer that was given to a creating request, kept for its retries.
public struct KeptReply: Sendable {
    public let status: Int
    public let location: String?
    public let etag: String?
    public let body: [UInt8]

    public init(status: Int, location: String?, etag: String?, body: [UInt8]) {
        self.status = status
        self.location = location
        self.etag = etag
        self.body = body
    }
}

/// Whose reply it is: one account, app, route and `Idempotency-Key`.
public struct ReplyKey: Sendable {
    public let account: AccountID
    public let app: AppID
    public let route: String
    public let key: String

    public init(account: AccountID, app: AppID, route: String, key: String) {
        self.account = account
        self.app = app
        self.route = route
        self.key = key
    }
}

extension Transaction {
    /// Makes two requests with the same key take turns, until this transaction ends.
    public func takeTurn(_ key: ReplyKey) throws(Failure) {
        try execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended(
                concat_ws(' ', \(key.account.description), \(key.app), \(key.route), \(key.key)), 0))
            """)
    }

    /// The reply of the last 24 hours, or nothing; refused when it answered another body.
    public func keptReply(_ key: ReplyKey, to body: [UInt8]) throws(Failure) -> KeptReply? {
        let kept = try first(
            """
            SELECT digest = sha256(\(body)), status, location, etag, body
            FROM idempotency
            WHERE account_id = \(key.account) AND app_id = \(key.app) AND route = \(key.route) AND key = \(key.key)
                AND created_at > \(now - .seconds(86_400))
            """
        ) { row throws(PostgresError) in
            let reply = KeptReply(status: try row[1], location: try row[2], etag: try row[3], body: try row[4])
            return (isSame: try row[0] as Bool, reply: reply)
        }
        guard let kept else { return nil }
        guard kept.isSame else { throw .idempotencyKeyReused }
        return kept.reply
    }

    public func keep(_ reply: KeptReply, for key: ReplyKey, to body: [UInt8]) throws(Failure) {
        try execute(
            """
            INSERT INTO idempotency (account_id, app_id, route, key, digest, status, location, etag, body, created_at)
            VALUES (\(key.account), \(key.app), \(key.route), \(key.key), sha256(\(body)), \(reply.status),
                    \(reply.location), \(reply.etag), \(reply.body), \(now))
            ON CONFLICT ON CONSTRAINT idempotency_pkey DO UPDATE
            SET digest = excluded.digest, status = excluded.status, location = excluded.location, etag = excluded.etag,
                body = excluded.body, created_at = excluded.created_at
            """)
    }
}
