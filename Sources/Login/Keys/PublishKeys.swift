import API
import Domain
import HTTP

/// The public keys that verify this server's tokens (RFC 7517).
struct PublishKeys: OpenEndpoint {
    static let route = Route.get("/oauth2/jwks")
    let ring: KeyRing

    func respond(to request: Request) async throws(Failure) -> Response {
        guard let response = immediate(to: request) else { throw .unavailable(cause: "no signing key is known yet") }
        return response
    }

    func immediate(to request: Request) -> Response? { ring.published?.answer(request) }
}
