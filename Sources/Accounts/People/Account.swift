import API
import Domain
import Wire

/// A person who may sign in.
struct Account: Sendable, Equatable {
    let id: AccountID
    let username: String
    var displayName: String
    var role: Role
    var hasPassword: Bool
    var disabledAt: Instant?
    let createdAt: Instant
    var updatedAt: Instant
    var version: Int64

    init(
        id: AccountID, username: String, displayName: String, role: Role, hasPassword: Bool, disabledAt: Instant? = nil,
        createdAt: Instant, updatedAt: Instant, version: Int64 = 1
    ) {
        self.id = id
        self.username = username
        self.displayName = displayName
        self.role = role
        self.hasPassword = hasPassword
        self.disabledAt = disabledAt
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }

    var isDisabled: Bool { disabledAt != nil }

    /// Whether somebody can sign in with this account and administer the server.
    var canAdminister: Bool { role == .admin && hasPassword && !isDisabled }

    var etag: ETag { ETag(version) }

    var location: String { "/v1/accounts/\(id)" }

    /// What the audit log keeps of it.
    var facts: JSON {
        [
            "username": .string(username), "displayName": .string(displayName), "role": .string(role.rawValue),
            "disabled": .bool(isDisabled),
        ]
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("id", id.uuid)
        writer.field("username", username)
        writer.field("displayName", displayName)
        writer.field("role", role.rawValue)
        writer.field("disabled", isDisabled)
        writer.field("createdAt", createdAt)
        writer.field("updatedAt", updatedAt)
        writer.endObject()
    }
}

/// The name somebody signs in with, in lower case.
struct Username: Sendable {
    let text: String

    /// Takes 1 to 64 of `A-Z a-z 0-9 . _ -`, in any case.
    init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Ascii.isUsernameByte) else { return nil }
        self.text = text.lowercased()
    }
}
