import Domain
import Postgres
import Store
import Wire

/// How much of a mailbox is wanted.
struct PageRequest: Sendable {
    /// `nil`: after what was acknowledged.
    var after: Int64?
    /// `nil`: whatever the epoch is.
    var epoch: Int64?
    var limit: Int
    /// Ciphertext in all; the first item comes in any case.
    var bytes: Int
    /// Larger ciphertexts are left out, to be fetched.
    var inlineBytes = Int.max
}

// Reading and acknowledging.

extension Transaction {
    /// A page of the mailbox that an app reads on a device: its own, or its parent's when it is an extension.
    func mailboxPage(
        of device: DeviceID, in app: AppID, _ asked: PageRequest
    ) throws(Failure) -> MailboxPage? {
        try mailboxPage(
            where: """
                m.device_id = \(device)
                    AND m.app_id = COALESCE((SELECT p.parent FROM app p WHERE p.id = \(app)), \(app))
                """, asked)
    }

    func mailboxPage(of mailbox: MailboxID, _ asked: PageRequest) throws(Failure) -> MailboxPage? {
        try mailboxPage(where: "m.id = \(mailbox)", asked)
    }

    // One statement, so that items, head and acknowledgement are of one moment: with two, what was committed between
    // them looks like a hole.
    private func mailboxPage(where which: SQL, _ asked: PageRequest) throws(Failure) -> MailboxPage? {
        let rows = try query(
            """
            SELECT b.id, b.app_id, b.epoch, b.head, b.acked, b.trimmed_through, b.is_reset,
                   i.seq, i.message_id, i.kind, i.sender_account, i.sender_device, i.conversation_id, i.sent_at,
                   i.expires_at, i.fits, CASE WHEN i.fits AND i.size <= \(asked.inlineBytes) THEN i.ciphertext END
            FROM (
                SELECT v.id, v.app_id, v.epoch, v.head, v.acked, v.trimmed_through, v.is_reset,
                       CASE WHEN v.is_reset THEN GREATEST(v.acked, v.trimmed_through)
                            ELSE GREATEST(\(asked.after), v.acked, v.trimmed_through) END AS start
                FROM (
                    SELECT m.id, m.app_id, m.epoch, m.next_seq - 1 AS head, COALESCE(a.acked, 0) AS acked,
                           m.trimmed_through,
                           COALESCE(\(asked.after) > m.next_seq - 1, false)
                               OR COALESCE(\(asked.epoch) <> m.epoch, false) AS is_reset
                    FROM mailbox m
                    LEFT JOIN mailbox_ack a ON a.mailbox_id = m.id
                    WHERE \(which)
                ) v
            ) b
            LEFT JOIN LATERAL (\(items(asked))) i ON true
            ORDER BY i.seq
            """, MailboxRow.init)
        guard let first = rows.first else { return nil }
        let entries = rows.compactMap(\.item)
        let items = entries.prefix { $0.fits }.map(\.item)
        return MailboxPage(
            view: first.view, after: asked.after, items: Array(items), isCut: items.count < entries.count)
    }

    /// The items of the page, and of the next one the first, which says that there is one.
    private func items(_ asked: PageRequest) -> SQL {
        """
        SELECT x.seq, x.message_id, x.kind, x.sender_account, x.sender_device, x.conversation_id, x.sent_at,
               x.expires_at, octet_length(x.ciphertext) AS size, x.ciphertext,
               row_number() OVER w <= \(asked.limit)
                   AND sum(octet_length(x.ciphertext)) OVER w - octet_length(x.ciphertext) < \(asked.bytes) AS fits
        FROM mailbox_item x
        WHERE x.mailbox_id = b.id AND x.seq > b.start AND x.keep_until > \(now)
        WINDOW w AS (ORDER BY x.seq ROWS UNBOUNDED PRECEDING)
        ORDER BY x.seq
        LIMIT \(asked.limit + 1)
        """
    }

    /// The mailbox that an app reads on a device, without its items.
    func mailboxStanding(
        of device: DeviceID, in app: AppID
    ) throws(Failure) -> (id: MailboxID, epoch: Int64, head: Int64, acked: Int64)? {
        try first(
            """
            SELECT m.id, m.epoch, m.next_seq - 1, COALESCE(a.acked, 0)
            FROM mailbox m
            LEFT JOIN mailbox_ack a ON a.mailbox_id = m.id
            WHERE m.device_id = \(device)
                AND m.app_id = COALESCE((SELECT p.parent FROM app p WHERE p.id = \(app)), \(app))
            """
        ) { row throws(PostgresError) in
            (id: try row[0], epoch: try row[1], head: try row[2], acked: try row[3])
        }
    }

    /// Which of the mailboxes have something after the positions, by index.
    func mailboxesWithMore(
        _ mailboxes: [MailboxID], after positions: [MailboxPosition]
    ) throws(Failure) -> Set<Int> {
        let numbers = try query(
            """
            SELECT p.number
            FROM unnest(\(mailboxes), \(positions.map(\.epoch)), \(positions.map(\.seq)))
                WITH ORDINALITY AS p (id, epoch, seq, number)
            JOIN mailbox m ON m.id = p.id
            LEFT JOIN mailbox_ack a ON a.mailbox_id = m.id
            WHERE m.epoch <> p.epoch OR p.seq > m.next_seq - 1 OR m.next_seq - 1 > GREATEST(p.seq, a.acked)
            """
        ) { row throws(PostgresError) in try row[0] as Int }
        return Set(numbers.map { $0 - 1 })
    }

    /// Moves the acknowledgement forward; `nil` when there is nothing to move or no such item, or the app is an extension.
    func acknowledge(_ through: Int64, on device: DeviceID, for app: AppID) throws(Failure) -> Int64? {
        try first(
            """
            UPDATE mailbox_ack a
            SET acked = GREATEST(a.acked, \(through))
            FROM mailbox m
            JOIN app p ON p.id = m.app_id AND p.parent IS NULL
            WHERE m.device_id = \(device) AND m.app_id = \(app) AND m.next_seq > \(through)
                AND a.mailbox_id = m.id AND a.acked < \(through)
            RETURNING a.acked
            """
        ) { row throws(PostgresError) in try row[0] }
    }

    func acknowledged(on device: DeviceID, for app: AppID) throws(Failure) -> (head: Int64, acked: Int64)? {
        try first(
            """
            SELECT m.next_seq - 1, a.acked
            FROM mailbox m
            JOIN app p ON p.id = m.app_id AND p.parent IS NULL
            JOIN mailbox_ack a ON a.mailbox_id = m.id
            WHERE m.device_id = \(device) AND m.app_id = \(app)
            """
        ) { row throws(PostgresError) in (head: try row[0], acked: try row[1]) }
    }

    /// Voids every position that was ever given out, and says how many mailboxes there are.
    func beginNewEpoch() throws(Failure) -> Int {
        // Committers lock mailboxes one by one; the whole table at once cannot meet them in a circle.
        try execute("LOCK TABLE mailbox IN EXCLUSIVE MODE")
        return try execute("UPDATE mailbox SET epoch = epoch + 1")
    }
}

private struct MailboxRow {
    let view: MailboxView
    let item: (item: Item, fits: Bool)?

    init(_ row: borrowing Row) throws(PostgresError) {
        view = MailboxView(
            id: try row[0], app: try row[1], epoch: try row[2], head: try row[3], acked: try row[4],
            trimmedThrough: try row[5], isReset: try row[6])
        guard let seq = try row[7] as Int64? else {
            item = nil
            return
        }
        let item = Item(
            seq: seq, id: try row[8], kind: try row[9], senderAccount: try row[10], senderDevice: try row[11],
            conversation: try row[12], sentAt: try row[13], expiresAt: try row[14], ciphertext: try row[16])
        self.item = (item, try row[15])
    }
}
