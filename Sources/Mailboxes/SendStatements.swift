import Domain
import Postgres
import Store
import Wire

// What a batch of messages reads and writes, in the order of its locks.

extension Query<Draft.Key> {
    /// Writes the ids of messages that are not known yet, and tells which; a device that was removed claims nothing.
    static func claiming(_ drafts: [Draft], at now: Instant, until keepUntil: Instant) -> Self {
        Query(
            """
            INSERT INTO message (sender_device, id, digest, sent_at, accepted, keep_until)
            SELECT s.device, s.id, s.digest, \(now), s.accepted::uuid[], \(keepUntil)
            FROM unnest(\(drafts.map(\.device)), \(drafts.map(\.id)), \(drafts.map(\.digest)),
                        \(drafts.map(\.acceptedLiteral))) AS s (device, id, digest, accepted)
            JOIN device d ON d.id = s.device AND d.removed_at IS NULL
            ORDER BY s.device, s.id
            ON CONFLICT ON CONSTRAINT message_pkey DO NOTHING
            RETURNING sender_device, id
            """
        ) { row throws(PostgresError) in Draft.Key(device: try row[0], id: try row[1]) }
    }
}

extension Query<Address> {
    /// Locks the mailboxes of accounts in apps; their device lists are locked already.
    static func lockingMailboxes(of households: [Household]) -> Self {
        Query(
            """
            SELECT m.id, m.account_id, m.app_id, m.device_id, d.key_version, m.epoch, m.next_seq, m.trimmed_through,
                   COALESCE(a.acked, 0)
            FROM unnest(\(households.map(\.account)), \(households.map(\.app))) AS h (account, app)
            JOIN mailbox m ON m.account_id = h.account AND m.app_id = h.app
            JOIN device d ON d.id = m.device_id AND d.removed_at IS NULL
            LEFT JOIN mailbox_ack a ON a.mailbox_id = m.id
            ORDER BY m.id
            FOR NO KEY UPDATE OF m
            """
        ) { row throws(PostgresError) in
            Address(
                mailbox: try row[0], account: try row[1], app: try row[2], device: try row[3], keyVersion: try row[4],
                epoch: try row[5], nextSeq: try row[6], trimmedThrough: try row[7], acked: try row[8])
        }
    }
}

extension Transaction {
    /// What became of sends whose ids could not be claimed.
    func earlierSends(of drafts: [Draft]) throws(Failure) -> [Draft.Key: EarlierSend] {
        let found = try query(
            """
            SELECT s.device, s.id, d.id IS NOT NULL, m.digest, m.sent_at, m.accepted
            FROM unnest(\(drafts.map(\.device)), \(drafts.map(\.id))) AS s (device, id)
            LEFT JOIN device d ON d.id = s.device AND d.removed_at IS NULL
            LEFT JOIN message m ON m.sender_device = s.device AND m.id = s.id
            """
        ) { row throws(PostgresError) in
            let key = Draft.Key(device: try row[0], id: try row[1])
            guard let digest = try row[3] as [UInt8]? else {
                return (key, EarlierSend(isSenderPresent: try row[2], sent: nil))
            }
            let message = SentMessage(id: key.id, sentAt: try row[4], accepted: try row[5])
            return (key, EarlierSend(isSenderPresent: try row[2], sent: (digest, message)))
        }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    /// Writes everything that was planned, with the COMMIT.
    func store(_ plan: Plan) {
        var statements: [SQL] = []
        if !plan.withdrawn.isEmpty { statements.append(withdrawal(of: plan.withdrawn)) }
        if !plan.items.isEmpty {
            let counters = plan.counters.values.map { ($0, plan.trim($0)) }
            statements.append(advance(counters))
            let trimmed = counters.filter { $0.1 > $0.0.address.trimmedThrough }
            if !trimmed.isEmpty { statements.append(trimming(trimmed)) }
            statements.append(insertion(of: plan.items))
        }
        close(with: statements)
    }

    private func withdrawal(of keys: [Draft.Key]) -> SQL {
        """
        DELETE FROM message m
        USING unnest(\(keys.map(\.device)), \(keys.map(\.id))) AS w (device, id)
        WHERE m.sender_device = w.device AND m.id = w.id
        """
    }

    private func advance(_ counters: [(Plan.Counter, Int64)]) -> SQL {
        """
        UPDATE mailbox m
        SET next_seq = c.next_seq, trimmed_through = c.trimmed_through
        FROM unnest(\(counters.map(\.0.address.mailbox)), \(counters.map(\.0.nextSeq)), \(counters.map(\.1)))
            AS c (id, next_seq, trimmed_through)
        WHERE m.id = c.id
        """
    }

    /// The lower bound keeps the scan off what was trimmed before.
    private func trimming(_ counters: [(Plan.Counter, Int64)]) -> SQL {
        """
        DELETE FROM mailbox_item i
        USING unnest(\(counters.map(\.0.address.mailbox)), \(counters.map { max($0.0.address.trimmedThrough, $0.0.address.acked) }),
                     \(counters.map(\.1))) AS c (id, from_seq, through)
        WHERE i.mailbox_id = c.id AND i.seq > c.from_seq AND i.seq <= c.through
        """
    }

    private func insertion(of items: [CommittedItem]) -> SQL {
        """
        INSERT INTO mailbox_item (mailbox_id, seq, message_id, kind, sender_account, sender_device, conversation_id,
                                  sent_at, expires_at, keep_until, ciphertext)
        SELECT i.mailbox, i.seq, i.message, i.kind, i.account, i.device, i.conversation, \(now), i.expires, i.keep_until,
               i.ciphertext
        FROM unnest(\(items.map(\.mailbox)), \(items.map(\.item.seq)), \(items.map(\.item.id)),
                    \(items.map(\.item.kind)), \(items.map(\.item.senderAccount)), \(items.map(\.item.senderDevice)),
                    \(items.map(\.item.conversation)), \(items.map(\.item.expiresAt)), \(items.map(\.keepUntil)),
                    \(items.map { $0.item.ciphertext ?? [] }))
            AS i (mailbox, seq, message, kind, account, device, conversation, expires, keep_until, ciphertext)
        """
    }
}

extension Draft {
    /// The devices as the text of a PostgreSQL array: an array cannot hold arrays of different lengths.
    fileprivate var acceptedLiteral: String { "{" + accepted.map(\.description).joined(separator: ",") + "}" }
}
