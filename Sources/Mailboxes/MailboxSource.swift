import API
import Domain
import Store
import Wire

/// Mailboxes as event streams carry them: `message` and `gap` events in the order of sequence.
struct MailboxSource: UpdateSource {
    let database: Database
    let recent: RecentItems

    var letter: UInt8 { UInt8(ascii: "m") }

    func serves(_ listener: API.Listener) -> Bool {
        !listener.caller.scopes.isDisjoint(with: [.mailbox, .mailboxRead])
    }

    func open(_ listener: API.Listener, at position: Position?) async throws(Failure) -> any UpdateFeed {
        let asked = try Self.position(position)
        let standing = try await database.read { (tx) throws(Failure) in
            try tx.mailboxStanding(of: listener.device, in: listener.caller.app)
        }
        guard let standing else { return NoMailboxFeed(doorbell: .sessionEnded(listener.caller.session)) }
        let start = asked ?? MailboxPosition(epoch: standing.epoch, seq: standing.acked)
        return MailboxFeed(
            mailbox: standing.id, start: start, head: standing.head, database: database, recent: recent)
    }

    func haveMore(
        _ feeds: [(feed: any UpdateFeed, position: Position)]
    ) async throws(Failure) -> [Bool] {
        let asked = feeds.map { feed, position -> (MailboxID, MailboxPosition)? in
            guard let feed = feed as? MailboxFeed, let position = MailboxPosition(bytes: position) else { return nil }
            return (feed.mailbox, position)
        }
        let known = asked.indices.filter { asked[$0] != nil }
        guard !known.isEmpty else { return feeds.map { _ in false } }
        let (mailboxes, positions) = (asked.compactMap { $0?.0 }, asked.compactMap { $0?.1 })
        let found = try await database.read { (tx) throws(Failure) in
            try tx.mailboxesWithMore(mailboxes, after: positions)
        }
        let haveMore = Set(found.map { known[$0] })
        return feeds.indices.map(haveMore.contains)
    }

    static func update(with item: Item, epoch: Int64) -> Update {
        let sent = item.ciphertext.map { $0.count <= inlineBytes } ?? false ? item : item.withoutCiphertext
        var writer = JSONWriter(capacity: 512 + (sent.ciphertext?.count ?? 0) * 4 / 3)
        sent.write(to: &writer)
        return Update(
            event: "message", data: writer.finish(), position: MailboxPosition(epoch: epoch, seq: item.seq).bytes)
    }

    /// Larger ciphertexts are not sent with the event; the client reads them from the mailbox.
    static let inlineBytes = 16 * 1024

    /// Nothing is where a stream stood that had no mailbox.
    private static func position(_ bytes: Position?) throws(Failure) -> MailboxPosition? {
        guard let bytes, !bytes.isEmpty else { return nil }
        guard let position = MailboxPosition(bytes: bytes) else {
            throw .invalid("Last-Event-ID", "is not an id of this server's events")
        }
        return position
    }
}

/// One mailbox, followed by one stream.
final class MailboxFeed: UpdateFeed {
    private static let pageBytes = 256 * 1024
    private static let pageItems = 200

    let start: Position
    let mailbox: MailboxID
    private let head: Int64
    private let database: Database
    private let recent: RecentItems

    init(mailbox: MailboxID, start: MailboxPosition, head: Int64, database: Database, recent: RecentItems) {
        self.mailbox = mailbox
        self.start = start.bytes
        self.head = head
        self.database = database
        self.recent = recent
        recent.watch(mailbox)
    }

    deinit { recent.forget(mailbox) }

    var doorbell: Doorbell { .mailbox(mailbox) }
    var standing: (name: StaticString, value: Int64) { ("head", head) }

    func recent(after position: Position) -> [Update]? {
        guard let position = MailboxPosition(bytes: position) else { return nil }
        return recent.updates(after: position, in: mailbox)
    }

    func page(after position: Position) async throws(Failure) -> [Update] {
        guard let position = MailboxPosition(bytes: position) else {
            throw .broken(cause: "a mailbox feed was asked for a position of another source")
        }
        let asked = PageRequest(
            after: position.seq, epoch: position.epoch, limit: Self.pageItems, bytes: Self.pageBytes,
            inlineBytes: MailboxSource.inlineBytes)
        let mailbox = mailbox
        let page = try await database.read { (tx) throws(Failure) in try tx.mailboxPage(of: mailbox, asked) }
        // A mailbox goes with its device, whose session has ended: the stream hears of that by itself.
        guard let page else { return [] }
        return page.entries.map { entry in
            switch entry {
            case .item(let item): MailboxSource.update(with: item, epoch: page.view.epoch)
            case .gap(let gap): Self.update(with: gap, page.view)
            }
        }
    }

    private static func update(with gap: Gap, _ view: MailboxView) -> Update {
        var writer = JSONWriter(capacity: 64)
        gap.write(to: &writer)
        let seq = gap.reason == .reset ? view.acked : gap.to
        return Update(
            event: "gap", data: writer.finish(), position: MailboxPosition(epoch: view.epoch, seq: seq).bytes)
    }
}

/// An extension whose parent has no mailbox on this device yet: nothing arrives, and nothing is wrong.
///
/// Its bell rings for something else; the mailbox is found when the stream is opened anew.
private struct NoMailboxFeed: UpdateFeed {
    let doorbell: Doorbell
    var start: Position { [] }
    var standing: (name: StaticString, value: Int64) { ("head", 0) }

    func page(after position: Position) async throws(Failure) -> [Update] { [] }
}

extension Item {
    fileprivate var withoutCiphertext: Item {
        Item(
            seq: seq, id: id, kind: kind, senderAccount: senderAccount, senderDevice: senderDevice,
            conversation: conversation, sentAt: sentAt, expiresAt: expiresAt, ciphertext: nil)
    }
}
