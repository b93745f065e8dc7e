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
        let standing = try limit.spend(
            caller.account, at: database.clock.now(), else: "The directory is for finding people, not for listing them."
        )
        let entry = try await database.askFirst(.directoryEntry(username))
        var response = Self.answer(entry, caller)
        response.add([standing])
        return response
    }

    /// Nobody is answered here, so that this answer too carries how the caller stands.
    private static func answer(_ entry: DirectoryEntry?, _ caller: Caller) -> Response {
        guard let entry else {
            return Problem.response(to: .missing("Nobody has this username."), requestID: caller.requestID)
        }
        return .json { writer in
            writer.beginObject()
            writer.field("accountId", entry.account.uuid)
            writer.field("displayName", entry.displayName)
            writer.endObject()
        }
    }
}

/// What others may learn of somebody whose name they know.
struct DirectoryEntry: Sendable {
    let account: AccountID
    let displayName: String
}
