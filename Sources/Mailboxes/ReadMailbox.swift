import API
import Domain
import HTTP
import Store
import Wire

/// What waits for this device and app, from a position on; reading acknowledges nothing.
struct ReadMailbox: Endpoint {
    static let route = Route.get("/v1/mailbox")
    static let access = Access.device(.mailbox, .mailboxRead)

    let database: Database
    let limits: Mailboxes.Limits

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let device = caller.device else { throw .forbidden("this session has no device yet") }
        let parameters = try request.parameters("after", "limit")
        let start = try Start(parameters["after"])
        let asked = PageRequest(
            after: start.seq, epoch: start.epoch, limit: try parameters.limit(), bytes: limits.pageBytes)
        let page = try await database.read { (tx) throws(Failure) in
            try tx.mailboxPage(of: device, in: caller.app, asked)
        }
        guard let page else { throw .forbidden("this app has no mailbox on this device") }
        try start.check(device, page.view.app)
        return answer(page, device)
    }

    private func answer(_ page: MailboxPage, _ device: DeviceID) -> Response {
        .json { writer in
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            for item in page.items { item.write(to: &writer) }
            writer.endArray()
            writer.field("next", MailboxCursor(device: device, app: page.view.app, position: page.end).text)
            writer.field("head", page.view.head)
            writer.field("acked", page.view.acked)
            writer.field("epoch", page.view.epoch)
            writer.key("gaps")
            writer.beginArray()
            for gap in page.gaps { gap.write(to: &writer) }
            writer.endArray()
            writer.endObject()
        }
    }
}

/// What `after` says: a bare sequence number, or the cursor of an earlier page.
private enum Start {
    case acknowledged
    case number(Int64)
    case cursor(MailboxCursor)

    init(_ text: String?) throws(Failure) {
        guard let text else {
            self = .acknowledged
            return
        }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let seq = Int64(decimal: text), seq <= Sequence.limit else {
                throw .invalid("?after", "must be 1 to 16 digits and at most \(Sequence.limit)")
            }
            self = .number(seq)
        } else {
            guard let cursor = MailboxCursor(text) else {
                throw .invalid("?after", "must be a sequence number or the next of an earlier page")
            }
            self = .cursor(cursor)
        }
    }

    var seq: Int64? {
        switch self {
        case .acknowledged: nil
        case .number(let seq): seq
        case .cursor(let cursor): cursor.position.seq
        }
    }

    var epoch: Int64? {
        guard case .cursor(let cursor) = self else { return nil }
        return cursor.position.epoch
    }

    func check(_ device: DeviceID, _ app: AppID) throws(Failure) {
        guard case .cursor(let cursor) = self else { return }
        guard cursor.device == device, cursor.app == app else {
            throw .invalid("?after", "belongs to another device or app")
        }
    }
}

extension Gap {
    /// `{from, to, reason}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.field("reason", reason.rawValue)
        writer.endObject()
    }
}
