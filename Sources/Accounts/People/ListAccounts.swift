import API
import Domain
import HTTP
import Store

struct ListAccounts: Endpoint {
    static let route = Route.get("/v1/accounts")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let parameters = try request.parameters("limit", "after")
        let limit = try parameters.limit()
        let after = try parameters.after(AccountID.self)
        let accounts = try await database.transaction { (tx) throws(Failure) in
            tx.record(Deed(.accountsRead, of: nil), by: caller.actor)
            return try tx.accounts(after: after, limit: limit + 1)
        }
        return .page(accounts, limit: limit, by: \.id) { $0.write(to: &$1) }
    }
}
