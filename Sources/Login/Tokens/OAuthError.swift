import API
import Domain
import HTTP
import Wire

/// A refusal in OAuth's own words (RFC 6749 §4.1.2.1, §5.2).
struct OAuthError: Error, Sendable {
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case accessDenied = "access_denied"
        case loginRequired = "login_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case temporarilyUnavailable = "temporarily_unavailable"
    }

    let code: Code
    /// For the developer; ASCII without quotes and backslashes.
    let detail: StaticString

    init(_ code: Code, _ detail: StaticString) {
        self.code = code
        self.detail = detail
    }

    /// The answer of the token and revocation endpoints.
    var response: Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("error", code.rawValue)
        writer.field("error_description", "\(detail)")
        writer.endObject()
        return Response(status: status, headers: headers, body: .bytes(writer.finish()))
    }

    private var status: Int {
        switch code {
        case .invalidClient: 401
        case .temporarilyUnavailable: 503
        default: 400
        }
    }

    private var headers: [(String, String)] {
        let common = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
        return switch code {
        // A client that tried to authenticate must be told of a scheme; there is none that would help it.
        case .invalidClient: common + [("WWW-Authenticate", "Basic realm=\"enfilade\"")]
        case .temporarilyUnavailable: common + [("Retry-After", "1")]
        default: common
        }
    }

    /// RFC 6749 has no word for it; the status says it.
    static func tooMany(_ standing: RateStanding) -> Response {
        var response = OAuthError(.temporarilyUnavailable, "too many requests come from this network").response
        response.status = 429
        response.set("Retry-After", "\(standing.retryAfter ?? 1)")
        response.add([standing])
        return response
    }

    static let away = OAuthError(.temporarilyUnavailable, "try again in a moment")
    static let unknownClient = OAuthError(.invalidClient, "there is no such client_id")
    static let publicClientsOnly = OAuthError(.invalidClient, "clients are public: send client_id and no credentials")
}
