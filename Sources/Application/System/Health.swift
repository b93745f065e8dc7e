import API
import Domain
import HTTP
import Wire

/// `GET /healthz`: the process answers.
///
/// It says nothing of the database, so that nobody restarts a node for it.
struct ShowHealth: InstantEndpoint {
    static let route = Route.get("/healthz")

    func respond(to request: Request) throws(Failure) -> Response {
        .json { writer in
            writer.beginObject()
            writer.field("status", "ok")
            writer.endObject()
        }
    }
}
