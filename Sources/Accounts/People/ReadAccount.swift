import API
import Domain
import HTTP
import Store

struct ReadAccount: Endpoint {
    static let route = Route.get("/v1/accounts/{account}")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: AccountID = try request.id("account", "There is no such account.")
        _ = try request.parameters()
        let account = try await database.transaction { (tx) throws(Failure) in
            guard let account = try tx.account(id) else { throw .missing("There is no such account.") }
            if id != caller.account { tx.record(Deed(.accountsRead, of: .account(id)), by: caller.actor) }
            return account
        }
        guard !request.holds(account.etag) else { return .notModified(account.etag) }
        return .json(etag: account.etag) { account.write(to: &$0) }
    }
}
