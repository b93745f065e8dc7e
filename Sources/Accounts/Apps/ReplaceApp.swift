import API
import Domain
import HTTP
import Store
import Wire

struct ReplaceApp: Endpoint {
    static let route = Route.put("/v1/apps/{app}")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id = try request.app()
        _ = try request.parameters()
        let registration = try request.parse { AppRegistration(&$0) }
        let app = try await database.transaction { (tx) throws(Failure) in
            let before = try tx.lockOwnApp(id)
            try request.requireMatch(before.etag)
            guard registration.kind == before.registration.kind else { throw .invalid("/kind", "cannot change") }
            guard registration != before.registration else { return before }
            try tx.requireParent(of: registration)
            var after = before
            after.registration = registration
            after.updatedAt = tx.now
            after.version += 1
            try tx.save(after)
            try tx.narrow(before, to: after, by: caller.actor)
            return after
        }
        return .json(etag: app.etag) { app.write(to: &$0) }
    }
}

extension Transaction {
    /// An app that an administrator may change.
    func lockOwnApp(_ id: AppID) throws(Failure) -> App {
        guard let app = try lockApp(id) else { throw .missing("There is no such app.") }
        guard !app.isBuiltIn else {
            throw .conflict(.state("This app comes with the server and can be neither changed nor removed."))
        }
        return app
    }

    /// Lets no token outlive a scope that was taken away, and writes the audit entry of the change.
    fileprivate func narrow(_ before: App, to after: App, by actor: Actor) throws(Failure) {
        var facts = after.registration.facts.fields ?? [:]
        let lost = before.registration.scopes.subtracting(after.registration.scopes)
        // An extension's stream and tokens reach its parent's mailbox: with another parent they begin anew.
        if !lost.isEmpty || after.registration.parent != before.registration.parent {
            let ended = try endSessions(in: after.id, because: .appChanged)
            facts["sessionsEnded"] = .number(JSON.Number(Int64(ended.count)))
        }
        if lost.contains(.mailbox) { try closeMailboxes(in: after.id) }
        record(
            Deed(.appChanged, of: .app(after.id), before: before.registration.facts, after: .object(facts)), by: actor)
    }
}
