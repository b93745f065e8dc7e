import API
import Domain
import HTTP
import Store

struct ListApps: Endpoint {
    static let route = Route.get("/v1/apps")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let parameters = try request.parameters("limit", "after")
        let limit = try parameters.limit()
        let after = try parameters.after(AppID.self)
        let apps = try await database.read { (tx) throws(Failure) in try tx.apps(after: after, limit: limit + 1) }
        return .page(apps, limit: limit, by: \.id) { $0.write(to: &$1) }
    }
}
