import API
import Domain
import HTTP
import Store
import Wire

struct ListRevisions: Endpoint {
    static let route = Route.get("/v1/apps/{app}/config/revisions")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        let parameters = try request.parameters("limit", "after")
        let limit = try parameters.limit()
        let last = try parameters.after(RevisionKey.self)?.number ?? .max
        let revisions = try await database.read { (tx) throws(Failure) in
            try tx.requireApp(app)
            return try tx.revisions(of: app, before: last, limit: limit + 1)
        }
        return .page(revisions, limit: limit, by: { RevisionKey($0.revision) }) { $0.write(to: &$1) }
    }
}
