import API
import Crypto
import Domain
import Store
import Wire

/// An account as somebody asks for it.
struct NewAccount: Sendable {
    let username: Username
    let displayName: String
    let role: Role
    let password: String?

    init(username: Username, displayName: String, role: Role, password: String?) {
        self.username = username
        self.displayName = displayName
        self.role = role
        self.password = password
    }

    /// `nil` only beside a fault.
    init?(_ fields: inout Fields) {
        let username = Username(
            fields.text("username", 1...64, "must be of letters, digits, '.', '_' and '-'") { Username($0) != nil })
        displayName = fields.text("displayName", 1...128)
        role = fields.optionalChoice("role", of: Role.self) ?? .member
        password = fields.optionalPassword()
        guard let username else { return nil }
        self.username = username
    }

    /// What was asked, to tell a retry from another request.
    ///
    /// Only whether there is a password: a digest of one that is quick to compute would be a gift to whoever steals it.
    var asked: JSON {
        [
            "username": .string(username.text), "displayName": .string(displayName), "role": .string(role.rawValue),
            "hasPassword": .bool(password != nil),
        ]
    }
}

extension Transaction {
    /// Makes the account with its list of devices, and its audit entry.
    func create(_ new: NewAccount, passwordHash: String?, by actor: Actor) throws(Failure) -> Account {
        let account = Account(
            id: newID(), username: new.username.text, displayName: new.displayName, role: new.role,
            hasPassword: passwordHash != nil, createdAt: now, updatedAt: now)
        try insert(account, passwordHash: passwordHash)
        try createDeviceList(of: account.id)
        record(Deed(.accountCreated, of: .account(account.id), after: account.facts), by: actor)
        return account
    }
}

extension Passwords {
    /// The hash of a password, when there is one.
    func hashed(_ password: String?) async throws(Failure) -> String? {
        guard let password else { return nil }
        do throws(Full) {
            return try await hash(password)
        } catch {
            throw error.failure
        }
    }
}
