import API
import Domain
import HTTP
import Store
import Wire

/// `GET /readyz`: whether a proxy should send requests here.
///
/// 503 while draining, while the database is away, while migrations are missing, while ended sessions cannot be told, and
/// while this machine's clock is more than a minute away from the database's.
struct ShowReadiness: OpenEndpoint {
    static let route = Route.get("/readyz")

    let isDraining: @Sendable () -> Bool
    let isFresh: @Sendable () -> Bool
    let migrator: Migrator
    let clock: ClockWatch

    func respond(to request: Request) async throws(Failure) -> Response {
        guard !isDraining() else { throw .unavailable(cause: "draining") }
        guard try await migrator.standing().isUsable else { throw .unavailable(cause: "the schema is not up to date") }
        guard isFresh() else { throw .unavailable(cause: "ended sessions have not been read lately") }
        guard try await clock.measure().magnitude <= ClockWatch.bearable else {
            throw .unavailable(cause: "this machine's clock and the database's differ by more than a minute")
        }
        return .json { writer in
            writer.beginObject()
            writer.field("status", "ready")
            writer.endObject()
        }
    }
}
