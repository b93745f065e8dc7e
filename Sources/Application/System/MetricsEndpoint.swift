import API
import Crypto
import Domain
import HTTP

/// `GET /metrics`: Prometheus' text format, for who holds the metrics token; on the monitor's own listener for everybody
/// who reaches it.
struct ShowMetrics: InstantEndpoint {
    static let route = Route(.get, "/metrics", produces: ["text/plain"])

    let token: String?
    let page: @Sendable () -> String

    func respond(to request: Request) throws(Failure) -> Response {
        if let token { try Self.check(request, token) }
        let type = "text/plain; version=0.0.4; charset=utf-8"
        return Response(
            status: 200, headers: [("Content-Type", type), ("Cache-Control", "no-store")],
            body: .bytes(Array(page().utf8)))
    }

    private static func check(_ request: Request, _ token: String) throws(Failure) {
        let given = try request.head.bearerToken()
        guard ConstantTime.equal(SHA256.hash(Array(given.utf8)), SHA256.hash(Array(token.utf8))) else {
            throw .unauthenticated(.badToken)
        }
    }
}
