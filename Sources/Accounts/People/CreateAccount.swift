import API
import Crypto
import Domain
import HTTP
import Store

struct CreateAccount: Endpoint {
    static let route = Route.post("/v1/accounts")
    static let access = Access.scope(.admin)
    let database: Database
    let passwords: Passwords

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        _ = try request.parameters()
        guard let new = try request.parse({ NewAccount(&$0) }) else {
            throw .invalid("/username", "is not a username")
        }
        // Before the transaction: a lane to the database must not wait for a slow hash.
        let hash = try await passwords.hashed(new.password)
        return try await database.transaction { (tx) throws(Failure) in
            try tx.once(request, by: caller, asked: new.asked) { () throws(Failure) in
                let account = try tx.create(new, passwordHash: hash, by: caller.actor)
                return .json(201, etag: account.etag, location: account.location) { account.write(to: &$0) }
            }
        }
    }
}
