import API
import Domain
import HTTP
import Store
import Wire

/// Begins an authorization request (RFC 6749 §4.1.1): shows the sign-in page, or sends the browser back with an error.
struct ShowSignIn: OpenEndpoint {
    static let route = Route.page("/oauth2/authorize")
    let parts: Parts

    func respond(to request: Request) async throws(Failure) -> Response {
        if let standing = parts.excess(of: request.head) { return SignInPage.tooMany(standing) }
        return try await parts.whileAway(SignInPage.away, to: request.head) { () async throws(Failure) -> Response in
            try await answer(OAuthParameters(request.head.query))
        }
    }

    private func answer(_ parameters: OAuthParameters) async throws(Failure) -> Response {
        // Until the client and its redirect URI are known to belong together, nobody is sent anywhere.
        guard let app = try await app(parameters) else {
            return SignInPage.refusal(400, "The app that sent you here is not known to this server (client_id).")
        }
        guard let uri = parameters["redirect_uri"], !parameters.repeated.contains("redirect_uri"),
            RedirectURI.isRegistered(uri, among: app.redirectURIs)
        else {
            return SignInPage.refusal(
                400, "The app that sent you here named a return address that is not registered for it (redirect_uri).")
        }
        do throws(OAuthError) {
            let request = try AuthorizationRequest(parameters, app: app, redirectURI: uri)
            let end = parts.database.clock.now() + parts.settings.signInLife
            return SignInPage.form(
                appName: app.name, ticket: SignInTicket.seal(request, until: end, by: parts.secrets.tickets),
                username: String((parameters["login_hint"] ?? "").unicodeScalars.prefix(64)))
        } catch {
            let state = parameters.repeated.contains("state") ? nil : parameters["state"]
            let address = AuthorizationRequest.ReturnAddress(uri: uri, state: state, issuer: parts.issuer)
            return SignInPage.redirect(to: address.refusing(error))
        }
    }

    private func app(_ parameters: OAuthParameters) async throws(Failure) -> AppFacts? {
        guard !parameters.repeated.contains("client_id"), let id = parameters["client_id"].flatMap(AppID.init) else {
            return nil
        }
        return try await parts.database.read { (tx) throws(Failure) in try tx.appFacts(id) }
    }
}
