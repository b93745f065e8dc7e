import API
import Crypto
import Domain
import HTTP
import Store
import Wire

struct ChangeAccount: Endpoint {
    static let route = Route.patch("/v1/accounts/{account}")
    static let access = Access.scope(.admin)
    let database: Database
    let passwords: Passwords

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: AccountID = try request.id("account", "There is no such account.")
        _ = try request.parameters()
        let change = try request.parse { AccountChange(&$0) }
        guard !change.isEmpty else { throw .invalid("", "must change at least one field") }
        let hash = try await passwords.hashed(change.password)
        let account = try await database.transaction { (tx) throws(Failure) in
            // Before the account itself, so that everybody takes these rows in the same order.
            let administrators = change.mayTakeAdministrator ? try tx.lockAdministrators() : []
            guard let before = try tx.lockAccount(id) else { throw .missing("There is no such account.") }
            try request.requireMatch(before.etag)
            let after = before.changed(by: change, at: tx.now)
            if before.canAdminister, !after.canAdminister {
                guard administrators.contains(where: { $0 != id }) else {
                    throw .conflict(.state("This is the last administrator who can sign in."))
                }
            }
            return try tx.apply(after, to: before, passwordHash: hash, by: caller.actor)
        }
        return .json(etag: account.etag) { account.write(to: &$0) }
    }
}

/// What is to become of an account; what is absent stays.
struct AccountChange: Sendable {
    let displayName: String?
    let role: Role?
    let isDisabled: Bool?
    let password: String?

    init(_ fields: inout Fields) {
        displayName = fields.optionalText("displayName", 1...128)
        role = fields.optionalChoice("role", of: Role.self)
        isDisabled = fields.flag("disabled")
        password = fields.optionalPassword()
    }

    var isEmpty: Bool { displayName == nil && role == nil && isDisabled == nil && password == nil }

    /// Whether an administrator may be none afterwards.
    var mayTakeAdministrator: Bool { isDisabled == true || (role != nil && role != .admin) }
}

extension Account {
    func changed(by change: AccountChange, at instant: Instant) -> Account {
        var account = self
        account.displayName = change.displayName ?? displayName
        account.role = change.role ?? role
        account.hasPassword = hasPassword || change.password != nil
        if let isDisabled = change.isDisabled { account.disabledAt = isDisabled ? disabledAt ?? instant : nil }
        guard account != self || change.password != nil else { return self }
        account.updatedAt = instant
        account.version += 1
        return account
    }
}

extension Transaction {
    /// Saves a changed account; what was granted to it under other terms ends with the same commit.
    fileprivate func apply(
        _ after: Account, to before: Account, passwordHash: String?, by actor: Actor
    ) throws(Failure) -> Account {
        guard after != before else { return before }
        try save(after, passwordHash: passwordHash)
        var facts = after.facts.fields ?? [:]
        if passwordHash != nil { facts["passwordChanged"] = true }
        if passwordHash != nil || after.role != before.role || after.isDisabled != before.isDisabled {
            let ended = try endSessions(of: after.id, because: .accountChanged)
            facts["sessionsEnded"] = .number(JSON.Number(Int64(ended.count)))
        }
        record(
            Deed(.accountChanged, of: .account(after.id), before: before.facts, after: .object(facts)), by: actor)
        return after
    }
}
