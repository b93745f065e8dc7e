import API
import Domain
import HTTP
import Store
import Wire

/// Removes an app with its sessions, mailboxes and configuration.
struct RemoveApp: Endpoint {
    static let route = Route.delete("/v1/apps/{app}")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id = try request.app()
        _ = try request.parameters()
        try await database.transaction { (tx) throws(Failure) in
            let app = try tx.lockOwnApp(id)
            try request.requireMatch(app.etag)
            guard try !tx.hasExtensions(id) else {
                throw .conflict(.appInUse("Extensions belong to this app: remove them first."))
            }
            // Sessions before device lists, as an enrolment takes them.
            let ended = try tx.endSessions(in: id, because: .appRemoved)
            try tx.closeMailboxes(in: id)
            try tx.forgetConfiguration(of: id)
            try tx.deleteApp(id)
            let facts: JSON = ["sessionsEnded": .number(JSON.Number(Int64(ended.count)))]
            tx.record(
                Deed(.appRemoved, of: .app(id), before: app.registration.facts, after: facts), by: caller.actor)
        }
        return .noContent
    }
}
