public import Domain
import Postgres

/// What more than one feature must know of an account.
public struct AccountFacts: Sendable {
    public let id: AccountID
    public let username: String
    public let displayName: String
    public let role: Role
    public let isDisabled: Bool
}

/// An account as the sign-in page needs it.
public struct SignInFacts: Sendable {
    public let account: AccountFacts
    /// argon2id in PHC form; `nil` while the account cannot sign in.
    public let passwordHash: String?
}

/// What more than one feature must know of an app.
public struct AppFacts: Sendable {
    public enum Kind: String, Sendable { case app, `extension` }

    public let id: AppID
    public let name: String
    public let kind: Kind
    /// Of an extension only.
    public let parent: AppID?
    public let redirectURIs: [String]
    /// What the app may ask for.
    public let scopes: Scopes
}

extension Transaction {
    /// Refuses what only a whole app may do: an extension's token is narrow, and nothing final may hang on it.
    public func refuseExtension(_ app: AppID) throws(Failure) {
        guard try appFacts(app)?.kind != .extension else {
            throw .forbidden("An extension cannot do this: use the app it belongs to.")
        }
    }

    public func accountFacts(_ id: AccountID) throws(Failure) -> AccountFacts? {
        try account("WHERE id = \(id)")?.account
    }

    /// The account with that username, which is in lower case.
    public func signInFacts(username: String) throws(Failure) -> SignInFacts? {
        try account("WHERE username = \(username)")
    }

    /// An account that cannot change until this transaction ends, so that what is granted to it now cannot outlive a
    /// change that was made meanwhile.
    public func holdAccount(_ id: AccountID) throws(Failure) -> SignInFacts? {
        try account("WHERE id = \(id) FOR SHARE")
    }

    /// Puts a hash of the same password in the place of one made at another cost, unless it changed meanwhile.
    public func renewHash(of account: AccountID, from old: String, to new: String) throws(Failure) {
        try execute("UPDATE account SET password_hash = \(new) WHERE id = \(account) AND password_hash = \(old)")
    }

    public func appFacts(_ id: AppID) throws(Failure) -> AppFacts? { try app("WHERE id = \(id)") }

    /// An app that cannot change until this transaction ends.
    public func holdApp(_ id: AppID) throws(Failure) -> AppFacts? { try app("WHERE id = \(id) FOR SHARE") }

    private func account(_ which: SQL) throws(Failure) -> SignInFacts? {
        try first(
            """
            SELECT id, username, display_name, role, disabled_at IS NOT NULL, password_hash
            FROM account

            """ + which
        ) { row throws(PostgresError) in
            guard let role = Role(rawValue: try row[3]) else { throw .decoding(column: 3) }
            let account = AccountFacts(
                id: try row[0], username: try row[1], displayName: try row[2], role: role, isDisabled: try row[4])
            return SignInFacts(account: account, passwordHash: try row[5])
        }
    }

    private func app(_ which: SQL) throws(Failure) -> AppFacts? {
        try first(
            """
            SELECT id, name, kind, parent, redirect_uris, scopes
            FROM app

            """ + which
        ) { row throws(PostgresError) in
            guard let kind = AppFacts.Kind(rawValue: try row[2]) else { throw .decoding(column: 2) }
            let scopes: [String] = try row[5]
            return AppFacts(
                id: try row[0], name: try row[1], kind: kind, parent: try row[3], redirectURIs: try row[4],
                scopes: Scopes(scopes.compactMap(Scope.init(rawValue:))))
        }
    }
}
