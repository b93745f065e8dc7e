import API
import Domain
import HTTP
import Wire

/// OpenID Connect Discovery 1.0.
struct ShowOpenIDConfiguration: OpenEndpoint {
    static let route = Route.get("/.well-known/openid-configuration")
    let metadata: PublicDocument

    func respond(to request: Request) async throws(Failure) -> Response { metadata.answer(request) }

    func immediate(to request: Request) -> Response? { metadata.answer(request) }
}

/// RFC 8414: the same document where plain OAuth clients look for it.
struct ShowAuthorizationServer: OpenEndpoint {
    static let route = Route.get("/.well-known/oauth-authorization-server")
    let metadata: PublicDocument

    func respond(to request: Request) async throws(Failure) -> Response { metadata.answer(request) }

    func immediate(to request: Request) -> Response? { metadata.answer(request) }
}

extension PublicDocument {
    /// What this server can do, and nothing it cannot.
    static func metadata(issuer: String) -> PublicDocument {
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        writer.field("issuer", issuer)
        writer.field("authorization_endpoint", issuer + ShowSignIn.route.pattern)
        writer.field("token_endpoint", issuer + IssueToken.route.pattern)
        writer.field("revocation_endpoint", issuer + RevokeToken.route.pattern)
        writer.field("jwks_uri", issuer + PublishKeys.route.pattern)
        writer.list("scopes_supported", Scope.allCases.map(\.rawValue))
        writer.list("response_types_supported", ["code"])
        writer.list("response_modes_supported", ["query"])
        writer.list("grant_types_supported", ["authorization_code", "refresh_token"])
        writer.list("code_challenge_methods_supported", ["S256"])
        writer.list("token_endpoint_auth_methods_supported", ["none"])
        writer.list("revocation_endpoint_auth_methods_supported", ["none"])
        writer.list("subject_types_supported", ["public"])
        writer.list("id_token_signing_alg_values_supported", ["EdDSA"])
        writer.list("prompt_values_supported", ["login", "none"])
        writer.list("claims_supported", IDToken.claims)
        writer.field("authorization_response_iss_parameter_supported", true)
        writer.field("request_parameter_supported", false)
        // Left out it would mean true.
        writer.field("request_uri_parameter_supported", false)
        writer.endObject()
        return PublicDocument(writer.finish())
    }
}
