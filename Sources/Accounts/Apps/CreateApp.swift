import API
import Domain
import HTTP
import Store
import Wire

struct CreateApp: Endpoint {
    static let route = Route.post("/v1/apps")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        _ = try request.parameters()
        let asked = try request.parse { fields in
            let id = fields.text("id", 2...63, "must match ^[a-z][a-z0-9-]{1,62}$") { AppID($0) != nil }
            return (id: AppID(stored: id), registration: AppRegistration(&fields))
        }
        let body: JSON = ["id": .string(asked.id.text), "registration": asked.registration.facts]
        return try await database.transaction { (tx) throws(Failure) in
            try tx.once(request, by: caller, asked: body) { () throws(Failure) in
                try tx.requireParent(of: asked.registration)
                let app = App(
                    id: asked.id, registration: asked.registration, isBuiltIn: false, createdAt: tx.now,
                    updatedAt: tx.now, version: 1)
                try tx.insert(app)
                tx.record(Deed(.appCreated, of: .app(app.id), after: app.registration.facts), by: caller.actor)
                return .json(201, etag: app.etag, location: app.location) { app.write(to: &$0) }
            }
        }
    }
}

extension Transaction {
    /// Holds the app that an extension belongs to; nothing to do for an app.
    func requireParent(of registration: AppRegistration) throws(Failure) {
        guard let parent = registration.parent else { return }
        guard try holdApp(parent)?.kind == .app else { throw .invalid("/parent", "is not an app of this server") }
    }
}
