import API
import Domain
import HTTP
import Store

struct ReadApp: Endpoint {
    static let route = Route.get("/v1/apps/{app}")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id = try request.app()
        _ = try request.parameters()
        let app = try await database.read { (tx) throws(Failure) in try tx.app(id) }
        guard let app else { throw .missing("There is no such app.") }
        guard !request.holds(app.etag) else { return .notModified(app.etag) }
        return .json(etag: app.etag) { app.write(to: &$0) }
    }
}
