import Domain

/// What a client asks the token endpoint for.
enum TokenGrant: Sendable {
    case code(CodeGrant)
    case refresh(RefreshGrant)

    init(_ form: OAuthParameters) throws(OAuthError) {
        switch try form.required("grant_type", "grant_type is missing") {
        case "authorization_code": self = .code(try CodeGrant(form))
        case "refresh_token": self = .refresh(try RefreshGrant(form))
        default: throw OAuthError(.unsupportedGrantType, "grant_type must be authorization_code or refresh_token")
        }
    }
}

/// RFC 6749 §4.1.3, RFC 7636 §4.5.
struct CodeGrant: Sendable {
    let client: AppID
    let code: String
    let redirectURI: String
    let verifier: String

    init(_ form: OAuthParameters) throws(OAuthError) {
        client = try form.client()
        code = try form.required("code", "code is missing")
        redirectURI = try form.required("redirect_uri", "redirect_uri is missing")
        verifier = try form.required("code_verifier", "code_verifier is missing")
    }
}

/// RFC 6749 §6.
struct RefreshGrant: Sendable {
    let client: AppID
    let token: String
    /// What this access token is to carry; `nil` for everything granted.
    let scopes: Scopes?

    init(_ form: OAuthParameters) throws(OAuthError) {
        client = try form.client()
        token = try form.required("refresh_token", "refresh_token is missing")
        scopes = form["scope"].map { Scopes(spaceSeparated: $0) }
        guard scopes != [] else { throw OAuthError(.invalidScope, "none of these scopes is known") }
    }
}

extension OAuthParameters {
    /// The client, which has no credentials (RFC 6749 §2.1, §3.2.1).
    func client() throws(OAuthError) -> AppID {
        guard self["client_secret"] == nil, self["client_assertion"] == nil else { throw .publicClientsOnly }
        let text = try required("client_id", "client_id is missing")
        guard let id = AppID(text) else { throw .unknownClient }
        return id
    }
}

/// How the token endpoint decided.
///
/// A refusal is a value too, because what it changed has to be committed.
enum Decision: Sendable {
    case granted(Granted)
    case refused(OAuthError)

    static let badCode = Decision.refused(OAuthError(.invalidGrant, "the code is not valid"))
    static let badRefreshToken = Decision.refused(OAuthError(.invalidGrant, "the refresh token is not valid"))
}
