import EnfiladeClient
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let redirectURI = "http://127.0.0.1/callback"

/// The authorization code flow; gives what every call is made with, the access token included.
func signIn(
    _ server: String, app: String, username: String, password: String, scope: String
) async throws
    -> EnfiladeClientAPIConfiguration
{
    let calls = EnfiladeClientAPIConfiguration(basePath: server)
    let verifier = UUID().uuidString + UUID().uuidString
    let page = try await LoginAPI.showSignInPage(
        responseType: .code, clientId: app, redirectUri: redirectURI, codeChallenge: sha256(verifier).base64url,
        codeChallengeMethod: .s256, scope: scope, state: "tour", apiConfiguration: calls)
    guard let field = page.firstMatch(of: #/name="request" value="([^"]*)"/#) else {
        throw Wrong("the page has no form")
    }
    let form = ["request": String(field.1), "username": username, "password": password]
    let code = try await submit(form, to: server + "/oauth2/authorize")
    let tokens = try await LoginAPI.issueToken(
        grantType: .authorizationCode, clientId: app, code: code, redirectUri: redirectURI, codeVerifier: verifier,
        apiConfiguration: calls)
    calls.customHeaders["Authorization"] = "Bearer \(tokens.accessToken)"
    return calls
}

/// What the system's browser does: it sends the form and hands back the address that it is redirected to.
private func submit(_ form: [String: String], to address: String) async throws -> String {
    guard let url = URL(string: address) else { throw Wrong("\(address) is no address") }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let pairs = form.map { "\($0.key)=\($0.value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }
    request.httpBody = Data(pairs.joined(separator: "&").utf8)
    let session = URLSession(configuration: .ephemeral, delegate: StaysHere(), delegateQueue: nil)
    let (_, answer) = try await session.data(for: request)
    let location = (answer as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location") ?? ""
    guard let code = URLComponents(string: location)?.queryItems?.first(where: { $0.name == "code" })?.value else {
        throw Wrong("signing in was refused: \(answer)")
    }
    return code
}

private final class StaysHere: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse, newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

struct Wrong: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
