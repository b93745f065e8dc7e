import Crypto
import Domain
import Store
import Wire

/// An authorization request that was found good: what the sign-in page is for.
struct AuthorizationRequest: Sendable, Equatable {
    let app: AppID
    let redirectURI: String
    /// Asked for, and the app may have them; the account's role has yet to agree.
    let scopes: Scopes
    let state: String?
    let nonce: String?
    let codeChallenge: String

    /// Where to answer it, once client and redirect URI are known to belong together.
    struct ReturnAddress: Sendable {
        let uri: String
        let state: String?
        let issuer: String

        func answering(code: String) -> String {
            RedirectURI.answer(uri, [("code", code), ("state", state), ("iss", issuer)])
        }

        func refusing(_ error: OAuthError) -> String {
            let words: [(String, String?)] = [("error", error.code.rawValue), ("error_description", "\(error.detail)")]
            return RedirectURI.answer(uri, words + [("state", state), ("iss", issuer)])
        }
    }

    /// Reads the parameters (RFC 6749 §4.1.1, RFC 7636 §4.3) of a request whose client and redirect URI are good.
    init(_ parameters: OAuthParameters, app: AppFacts, redirectURI: String) throws(OAuthError) {
        guard parameters.repeated.isEmpty else { throw OAuthError(.invalidRequest, "a parameter is given twice") }
        guard parameters["request"] == nil else {
            throw OAuthError(.requestNotSupported, "request objects are not read")
        }
        guard parameters["request_uri"] == nil else {
            throw OAuthError(.requestURINotSupported, "request objects are not read")
        }
        let type = try parameters.required("response_type", "response_type is missing")
        guard type == "code" else { throw OAuthError(.unsupportedResponseType, "response_type must be code") }
        guard parameters["response_mode"] ?? "query" == "query" else {
            throw OAuthError(.invalidRequest, "response_mode must be query")
        }
        self.app = app.id
        self.redirectURI = redirectURI
        codeChallenge = try Self.challenge(parameters)
        scopes = try Self.scopes(parameters["scope"] ?? Scope.openid.rawValue, app)
        state = try Self.short(parameters["state"], "state must have at most 512 characters")
        nonce = try Self.short(parameters["nonce"], "nonce must have at most 512 characters")
        let prompts = (parameters["prompt"] ?? "").split(separator: " ")
        guard !prompts.contains("none") else {
            throw OAuthError(.loginRequired, "nobody is signed in here without being asked")
        }
    }

    func returnAddress(issuer: String) -> ReturnAddress {
        ReturnAddress(uri: redirectURI, state: state, issuer: issuer)
    }

    private static func challenge(_ parameters: OAuthParameters) throws(OAuthError) -> String {
        let challenge = try parameters.required("code_challenge", "code_challenge is missing: PKCE is needed")
        guard parameters["code_challenge_method"] == "S256" else {
            throw OAuthError(.invalidRequest, "code_challenge_method must be S256")
        }
        guard PKCE.isWellFormed(challenge: challenge) else {
            throw OAuthError(.invalidRequest, "code_challenge must be 43 characters of base64url")
        }
        return challenge
    }

    /// Scopes nobody here knows are left out (OpenID Connect Core §3.1.2.1); known ones must be the app's.
    private static func scopes(_ text: String, _ app: AppFacts) throws(OAuthError) -> Scopes {
        let asked = Scopes(spaceSeparated: text)
        guard !asked.isEmpty, asked.isSubset(of: app.scopes) else {
            throw OAuthError(.invalidScope, "the app may not ask for one of these scopes")
        }
        return asked
    }

    private static func short(_ value: String?, _ detail: StaticString) throws(OAuthError) -> String? {
        guard value?.unicodeScalars.count ?? 0 <= 512 else { throw OAuthError(.invalidRequest, detail) }
        return value
    }
}

/// A request as the hidden field of the sign-in page: sealed, so that it cannot be altered, and good for a while only.
///
/// The server keeps nothing meanwhile; any node can take the answer.
enum SignInTicket {
    private static let context = "sign-in request"

    static func seal(_ request: AuthorizationRequest, until end: Instant, by sealing: Sealing) -> String {
        var writer = ByteWriter(capacity: 512)
        writer.uint64(UInt64(bitPattern: end.microseconds))
        let texts = [
            request.app.text, request.redirectURI, request.scopes.spaceSeparated, request.codeChallenge,
            request.state ?? "", request.nonce ?? "",
        ]
        for text in texts { writer.bytes(Array(text.utf8)) }
        return Base64URL.encode(sealing.seal(writer.finish(), for: context))
    }

    /// The request of a ticket that this server sealed and that has not run out.
    static func open(_ text: String, at now: Instant, by sealing: Sealing) -> AuthorizationRequest? {
        guard let sealed = Base64URL.decode(text), let plain = try? sealing.open(sealed, for: context),
            let (end, texts) = try? read(plain), end > now, let app = AppID(texts[0])
        else { return nil }
        return AuthorizationRequest(
            app: app, redirectURI: texts[1], scopes: Scopes(spaceSeparated: texts[2]),
            state: texts[4].isEmpty ? nil : texts[4], nonce: texts[5].isEmpty ? nil : texts[5], codeChallenge: texts[3])
    }

    private static func read(_ plain: [UInt8]) throws(ByteReader.Fault) -> (Instant, [String]) {
        var reader = ByteReader(plain)
        let end = Instant(microseconds: Int64(bitPattern: try reader.uint64()))
        var texts: [String] = []
        for _ in 0..<6 { texts.append(String(decoding: try reader.bytes(), as: UTF8.self)) }
        try reader.end()
        return (end, texts)
    }
}

extension AuthorizationRequest {
    fileprivate init(
        app: AppID, redirectURI: String, scopes: Scopes, state: String?, nonce: String?, codeChallenge: String
    ) {
        self.app = app
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
    }
}
