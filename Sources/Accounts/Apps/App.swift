import API
import Domain
import Wire

/// What an administrator says of an app.
struct AppRegistration: Sendable, Equatable {
    enum Kind: String, CaseIterable, Sendable { case app, `extension` }

    let name: String
    let kind: Kind
    /// Of an extension only, and always.
    let parent: AppID?
    let teamID: String?
    let bundleID: String?
    let redirectURIs: [String]
    /// What the app may ask for.
    let scopes: Scopes
    let sharingGroup: String?
    let universalLinks: [String]
    let urlScheme: String?

    /// The registration's members, without braces.
    func writeFields(to writer: inout JSONWriter) {
        writer.field("name", name)
        writer.field("kind", kind.rawValue)
        writer.field("parent", parent?.text)
        writer.field("teamId", teamID)
        writer.field("bundleId", bundleID)
        writer.list("redirectUris", redirectURIs)
        writer.list("scopes", scopes.ordered)
        writer.field("sharingGroup", sharingGroup)
        if !universalLinks.isEmpty { writer.list("universalLinks", universalLinks) }
        writer.field("urlScheme", urlScheme)
    }

    /// What the audit log keeps of it, and what tells a retry from another request.
    var facts: JSON {
        var facts: JSON.Object = [
            "name": .string(name), "kind": .string(kind.rawValue),
            "redirectUris": .array(redirectURIs.map(JSON.string)), "scopes": .array(scopes.ordered.map(JSON.string)),
        ]
        facts["parent"] = parent.map { .string($0.text) }
        facts["teamId"] = teamID.map(JSON.string)
        facts["bundleId"] = bundleID.map(JSON.string)
        facts["sharingGroup"] = sharingGroup.map(JSON.string)
        if !universalLinks.isEmpty { facts["universalLinks"] = .array(universalLinks.map(JSON.string)) }
        facts["urlScheme"] = urlScheme.map(JSON.string)
        return .object(facts)
    }
}

/// A program that people sign in to.
struct App: Sendable {
    let id: AppID
    var registration: AppRegistration
    /// Comes with the server; nobody changes or removes it.
    let isBuiltIn: Bool
    let createdAt: Instant
    var updatedAt: Instant
    var version: Int64

    var etag: ETag { ETag(version) }

    var location: String { "/v1/apps/\(id)" }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("id", id.text)
        registration.writeFields(to: &writer)
        writer.field("builtIn", isBuiltIn)
        writer.field("createdAt", createdAt)
        writer.field("updatedAt", updatedAt)
        writer.endObject()
    }
}
