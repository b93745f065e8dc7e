import API
import Domain
import HTTP
import Store
import Wire

/// The caller's own sessions that have not ended, newest first.
struct ListSessions: Endpoint {
    static let route = Route.get("/v1/sessions")
    static let access = Access.signedIn
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let parameters = try request.parameters("limit", "after")
        let limit = try parameters.limit()
        let last = try parameters.text("after").map { text throws(Failure) in try Self.position(text) }
        let found = try await database.read { (tx) throws(Failure) in
            try tx.liveSessions(of: caller.account, before: last, limit: limit + 1)
        }
        let items = Array(found.prefix(limit))
        let next = found.count > limit ? items.last.map { Base64URL.encode($0.id.uuid.bytes) } : nil
        return .page(items, next: next) { session, writer in
            session.write(to: &writer, isCurrent: session.id == caller.session)
        }
    }

    private static func position(_ text: String) throws(Failure) -> SessionID {
        guard let bytes = Base64URL.decode(text), let uuid = UUID(bytes: bytes) else {
            throw .invalid("?after", "is not a position in this list")
        }
        return SessionID(uuid)
    }
}

extension SessionRecord {
    fileprivate func write(to writer: inout JSONWriter, isCurrent: Bool) {
        writer.beginObject()
        writer.field("sid", id.uuid)
        writeApp(to: &writer)
        writeDevice(to: &writer)
        writer.list("scopes", scopes.ordered)
        writer.field("createdAt", createdAt)
        writer.field("lastUsedAt", lastUsedAt)
        writer.field("expiresAt", expiresAt)
        writer.field("current", isCurrent)
        writer.endObject()
    }
}
