import API
import Crypto
import Domain
import HTTP
import Store
import Wire

/// The session of the token presented.
struct ShowSession: Endpoint {
    static let route = Route.get("/v1/session")
    static let access = Access.signedIn
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        _ = try request.parameters()
        let (session, account) = try await database.read { (tx) throws(Failure) in
            guard let session = try tx.liveSession(caller.session), let account = try tx.accountFacts(caller.account)
            else { throw .unauthenticated(.sessionEnded) }
            return (session, account)
        }
        let body = Self.body(session, account, scopes: caller.scopes)
        let tag = ETag(opaque: Base64URL.encode(Array(BLAKE2b.hash(body).prefix(12))))
        return request.holds(tag) ? .notModified(tag) : .json(etag: tag, bytes: body)
    }

    private static func body(_ session: SessionRecord, _ account: AccountFacts, scopes: Scopes) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("sid", session.id.uuid)
        writer.key("account")
        writer.beginObject()
        writer.field("id", account.id.uuid)
        writer.field("username", account.username)
        writer.field("displayName", account.displayName)
        writer.field("role", account.role.rawValue)
        writer.endObject()
        session.writeApp(to: &writer)
        session.writeDevice(to: &writer)
        writer.list("scopes", scopes.ordered)
        writer.field("expiresAt", session.expiresAt)
        writer.endObject()
        return writer.finish()
    }
}

extension SessionRecord {
    func writeApp(to writer: inout JSONWriter) {
        writer.key("app")
        writer.beginObject()
        writer.field("id", app.text)
        writer.endObject()
    }

    /// Nothing while the session has no device.
    func writeDevice(to writer: inout JSONWriter) {
        guard let device else { return }
        writer.key("device")
        writer.beginObject()
        writer.field("id", device.uuid)
        writer.endObject()
    }
}
