import Domain
import Wire

/// The claims of an access token (RFC 9068).
///
/// The device is deliberately absent: it is read from the session, which may be bound to one after the token was made.
struct AccessToken: Sendable {
    static let type = "at+jwt"

    let account: AccountID
    let role: Role
    let app: AppID
    let session: SessionID
    let scopes: Scopes
    let issuedAt: Instant
    let expiresAt: Instant

    /// The payload, valid for `issuer` only, which is its audience too.
    func payload(issuer: String, id: UUID) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("iss", issuer)
        writer.field("sub", account.uuid)
        writer.field("aud", issuer)
        writer.field("client_id", app.text)
        writer.field("sid", session.uuid)
        writer.field("jti", id)
        writer.field("iat", issuedAt.seconds)
        writer.field("exp", expiresAt.seconds)
        writer.field("scope", scopes.spaceSeparated)
        writer.field("role", role.rawValue)
        writer.endObject()
        return writer.finish()
    }

    /// Reads a payload whose signature has been verified; `nil` unless every claim is there and meant for `issuer`.
    init?(payload: [UInt8], issuer: String) {
        guard let claims = try? JSON.parse(payload, maximumDepth: 4).fields,
            claims["iss"]?.text == issuer, claims["aud"]?.text == issuer,
            let account = claims["sub"]?.text.flatMap({ AccountID($0) }),
            let role = claims["role"]?.text.flatMap(Role.init(rawValue:)),
            let app = claims["client_id"]?.text.flatMap(AppID.init),
            let session = claims["sid"]?.text.flatMap({ SessionID($0) }),
            let scope = claims["scope"]?.text,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer
        else { return nil }
        self.account = account
        self.role = role
        self.app = app
        self.session = session
        scopes = Scopes(spaceSeparated: scope)
        self.issuedAt = Instant(microseconds: 0) + .seconds(issuedAt)
        self.expiresAt = Instant(microseconds: 0) + .seconds(expiresAt)
    }

    init(
        account: AccountID, role: Role, app: AppID, session: SessionID, scopes: Scopes, issuedAt: Instant,
        life: Duration
    ) {
        self.account = account
        self.role = role
        self.app = app
        self.session = session
        self.scopes = scopes
        self.issuedAt = issuedAt
        expiresAt = issuedAt + life
    }

    func isCurrent(at now: Instant) -> Bool {
        // No leeway at the end; a minute at the beginning, for nodes whose clocks differ a little.
        expiresAt > now && issuedAt <= now + .seconds(60)
    }
}
