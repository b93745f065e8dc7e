import API
import Domain
import Wire

/// One act as the log shows it.
struct Entry: Sendable {
    let index: Int64
    let id: AuditEntryID
    let time: Instant
    let action: String
    let outcome: String
    let actorKind: String
    let actorID: String?
    let targetKind: String?
    let targetID: String?
    let app: AppID?
    let session: SessionID?
    let requestID: String?
    /// JSON as it was written.
    let before: String?
    let after: String?
    let reason: String?

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("index", index)
        writer.field("id", id.uuid)
        writer.field("time", time)
        writer.field("action", action)
        writer.field("outcome", outcome)
        Self.write("actor", actorKind, actorID, to: &writer)
        if let targetKind, let targetID { Self.write("target", targetKind, targetID, to: &writer) }
        writer.field("app", app?.text)
        writer.field("session", session?.uuid)
        writer.field("requestId", requestID)
        Self.write("before", before, to: &writer)
        Self.write("after", after, to: &writer)
        writer.field("reason", reason)
        writer.endObject()
    }

    private static func write(_ name: StaticString, _ kind: String, _ id: String?, to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginObject()
        writer.field("kind", kind)
        writer.field("id", id)
        writer.endObject()
    }

    private static func write(_ name: StaticString, _ facts: String?, to writer: inout JSONWriter) {
        guard let facts else { return }
        writer.key(name)
        writer.raw(Array(facts.utf8))
    }
}

/// Where a reader of the log goes on: the first index it has not seen.
struct Cursor: Sendable, Equatable {
    let start: Int64

    init(start: Int64) { self.start = start }

    /// Takes an index in decimal, to go on behind it, or the `next` of a page.
    init?(_ text: String) {
        let isNext = text.first == "i"
        let digits = isNext ? text.dropFirst() : text[...]
        guard let number = Int64(decimal: digits) else { return nil }
        start = isNext ? number : number + 1
    }

    var text: String { "i\(start)" }
}
