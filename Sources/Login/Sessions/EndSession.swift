import API
import Domain
import HTTP
import Store
import Wire

/// Ends one of the caller's sessions, or with scope `admin` anybody's.
///
/// Its streams end with it.
struct EndSession: Endpoint {
    static let route = Route.delete("/v1/sessions/{sid}")
    static let access = Access.signedIn
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: SessionID = try request.id("sid", "There is no such session.")
        _ = try request.parameters()
        try await database.transaction { (tx) throws(Failure) in
            if id != caller.session { try tx.refuseExtension(caller.app) }
            guard let session = try tx.liveSession(id) else { throw .missing("There is no such session.") }
            let isOwn = session.account == caller.account
            let ending: SessionEnding = isOwn ? .signedOut : .endedByAdministrator
            guard isOwn || caller.scopes.contains(.admin), try tx.endSession(id, because: ending) else {
                throw .missing("There is no such session.")
            }
            let facts: JSON = ["account": .string(session.account.description), "app": .string(session.app.text)]
            tx.record(
                Deed(.sessionEnded, of: .session(id), before: facts, reason: ending.rawValue), by: caller.actor)
        }
        return .noContent
    }
}
