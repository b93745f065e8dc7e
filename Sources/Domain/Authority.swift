/// What an account may be given.
public enum Role: String, CaseIterable, Sendable {
    case member, auditor, admin

    /// The widest set of scopes this role can be granted.
    public var scopes: Scopes {
        switch self {
        case .member: Scopes([.openid, .profile, .offlineAccess, .mailbox, .mailboxRead, .config])
        case .auditor: Role.member.scopes.union([.audit])
        case .admin: Role.auditor.scopes.union([.admin])
        }
    }
}

/// One right that a token carries (RFC 6749 §3.3).
public enum Scope: String, CaseIterable, Sendable {
    case openid, profile, mailbox, config, admin, audit
    case offlineAccess = "offline_access"
    case mailboxRead = "mailbox.read"
}

public typealias Scopes = Set<Scope>

extension Scopes {
    /// Reads a space-separated list; an unknown scope gives no access and is left out (RFC 6749 §3.3).
    public init(spaceSeparated text: String) {
        self = Scopes(text.split(separator: " ").compactMap { Scope(rawValue: String($0)) })
    }

    /// In the order of their declaration, so that the same set is always the same text.
    public var ordered: [String] { Scope.allCases.filter(contains).map(\.rawValue) }

    public var spaceSeparated: String { ordered.joined(separator: " ") }
}
