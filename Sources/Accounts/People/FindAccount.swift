import API
import Domain
import HTTP
import Store
import Wire

/// The directory: whoever knows a name exactly may learn whose it is.
struct FindAccount: Endpoint {
    static let route = Route.get("/v1/directory")
    static let access = Access.scope(.mailbox)
    let database: Database
    let limit: RateLimit<AccountID>

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let text = try request.parameters("username")["username"] else {
            throw .invalid("?username", "is missing")
        }
        guard let username = Username(text) else {
            throw .invalid("?username", "must be 1 to 64 letters, digits, '.', '_' and '-'")
        }
        let verdict = limit.take(caller.account, at: database.clock.now())
        var response = try await answer(username, verdict, caller)
        response.add(verdict)
        return response
    }

    /// Refusals are answered here, so that they carry the limit's standing too.
    private func answer(
        _ username: Username, _ verdict: RateVerdict, _ caller: Caller
    ) async throws(Failure) -> Response {
        if let seconds = verdict.retryAfter {
            let refusal = Failure.limited(
                retryAfter: seconds, "The directory is for finding people, not for listing them.")
            return Problem.response(to: refusal, requestID: caller.requestID)
        }
        let entry = try await database.read { (tx) throws(Failure) in try tx.directoryEntry(username) }
        guard let entry else {
            return Problem.response(to: .missing("Nobody has this username."), requestID: caller.requestID)
        }
        return .json { writer in
            writer.beginObject()
            writer.field("accountId", entry.id.uuid)
            writer.field("displayName", entry.displayName)
            writer.endObject()
        }
    }
}
