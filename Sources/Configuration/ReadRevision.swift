import API
import Domain
import HTTP
import Store
import Wire

struct ReadRevision: Endpoint {
    static let route = Route.get("/v1/apps/{app}/config/revisions/{revision}")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        let number = try number(request)
        _ = try request.parameters()
        let (revision, previous) = try await database.read { (tx) throws(Failure) in
            try tx.requireApp(app)
            // Neither ever changes, so that two statements agree.
            guard let revision = try tx.revision(number, of: app) else { throw .missing("There is no such revision.") }
            return (revision, try tx.revision(number - 1, of: app))
        }
        let tag = revision.mark.etag
        guard !request.holds(tag) else { return .notModified(tag) }
        let changes = Change.between(try previous.values(), try revision.values())
        return .json(etag: tag) { writer in
            writer.beginObject()
            revision.summary.writeFields(to: &writer)
            writer.key("values")
            writer.raw(revision.content)
            writer.changes(changes)
            writer.endObject()
        }
    }

    private func number(_ request: Request) throws(Failure) -> Int64 {
        let text = request.head.parameter("revision") ?? ""
        guard let number = Int64(text), (1...maxRevision).contains(number), "\(number)" == text else {
            throw .missing("There is no such revision.")
        }
        return number
    }
}
