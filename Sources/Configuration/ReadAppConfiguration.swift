import API
import Domain
import HTTP
import Store
import Wire

struct ReadAppConfiguration: Endpoint {
    static let route = Route.get("/v1/apps/{app}/config")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        _ = try request.parameters()
        let current = try await database.read { (tx) throws(Failure) in
            try tx.requireApp(app)
            return try tx.currentRevision(of: app)
        }
        let tag = ETag(current.number)
        guard !request.holds(tag) else { return .notModified(tag) }
        return .json(etag: tag) { writer in
            writer.beginObject()
            writer.field("app", app.text)
            writer.field("revision", current.number)
            writer.key("values")
            writer.raw(current?.content ?? Published.noValues)
            if let summary = current?.summary {
                writer.field("updatedAt", summary.createdAt)
                writer.reference("updatedBy", to: summary.author)
                writer.field("reason", summary.reason)
            }
            writer.endObject()
        }
    }
}
