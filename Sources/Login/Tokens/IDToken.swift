import Domain
import Store
import Wire

/// The claims of an ID token (OpenID Connect Core §2).
struct IDToken: Sendable {
    static let type = "JWT"
    static let claims = [
        "iss", "sub", "aud", "iat", "exp", "auth_time", "sid", "nonce", "preferred_username", "name",
    ]

    let account: AccountFacts
    let session: SessionID
    let app: AppID
    let nonce: String?
    let signedInAt: Instant
    /// Whether the claims of scope `profile` are among them.
    let hasProfile: Bool

    func payload(issuer: String, issuedAt: Instant, life: Duration) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("iss", issuer)
        writer.field("sub", account.id.uuid)
        writer.field("aud", app.text)
        writer.field("iat", issuedAt.seconds)
        writer.field("exp", (issuedAt + life).seconds)
        writer.field("auth_time", signedInAt.seconds)
        writer.field("sid", session.uuid)
        writer.field("nonce", nonce)
        if hasProfile {
            writer.field("preferred_username", account.username)
            writer.field("name", account.displayName)
        }
        writer.endObject()
        return writer.finish()
    }
}
