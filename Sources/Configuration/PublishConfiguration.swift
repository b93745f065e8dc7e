import API
import Domain
import HTTP
import Store
import Wire

struct PublishConfiguration: Endpoint {
    static let route = Route.put("/v1/apps/{app}/config")
    static let access = Access.scope(.admin)
    /// What a body may have beyond the values: the reason, and white space.
    static let margin = 8 * 1024

    let database: Database
    let limit: Int

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        let isOnlyValidated = try request.parameters("validateOnly").flag("validateOnly")
        let asked = try request.parse { fields in
            (object: fields.object("values"), reason: fields.text("reason", 1...500))
        }
        let values = try Values(asked.object, limit: limit)
        return try await database.transaction { (tx) throws(Failure) in
            try tx.holdKnownApp(app)
            let current = isOnlyValidated ? try tx.currentRevision(of: app) : try tx.lockCurrentRevision(of: app)
            try request.requireMatch(ETag(current.number))
            let publication = try Publication(
                of: values.object, over: current, in: app, isOnlyValidated: isOnlyValidated)
            if !isOnlyValidated, !publication.changes.isEmpty {
                try tx.publish(publication, values.encoded, reason: asked.reason, by: caller)
            }
            return publication.answer()
        }
    }
}
