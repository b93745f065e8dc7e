import API
import Domain
import HTTP
import Store
import Wire

struct RollBackConfiguration: Endpoint {
    static let route = Route.post("/v1/apps/{app}/config/rollbacks")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        _ = try request.parameters()
        let asked = try request.parse { fields in
            (revision: fields.integer("revision", in: 1...maxRevision), reason: fields.text("reason", 1...500))
        }
        let body: JSON = ["revision": .number(JSON.Number(asked.revision)), "reason": .string(asked.reason)]
        return try await database.transaction { (tx) throws(Failure) in
            try tx.holdKnownApp(app)
            return try tx.once(request, by: caller, asked: body) { () throws(Failure) in
                let current = try tx.lockCurrentRevision(of: app)
                try request.requireMatch(ETag(current.number))
                guard let target = try tx.revision(asked.revision, of: app) else {
                    throw .missingParts([FieldFault(pointer: "/revision", detail: "was never published")])
                }
                let publication = try Publication(
                    of: try target.values(), over: current, in: app, isOnlyValidated: false)
                guard !publication.changes.isEmpty else {
                    throw .conflict(.state("The values of this revision are the published ones already."))
                }
                try tx.publish(
                    publication, target.content, reason: asked.reason, rolledBackFrom: asked.revision, by: caller)
                return publication.answer(201)
            }
        }
    }
}

/// Numbers on the wire stay exact in a double.
let maxRevision: Int64 = 9_007_199_254_740_991
