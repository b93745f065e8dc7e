/// What an account may be given.
package enum Role: String, CaseIterable, Sendable {
    case member, auditor, admin

    /// The widest set of scopes this role can be granted.
    package var scopes: Scopes {
        switch self {
        case .member: Scopes([.openid, .profile, .offlineAccess, .mailbox, .mailboxRead, .config])
        case .auditor: Role.member.scopes.union([.audit])
        case .admin: Role.auditor.scopes.union([.admin])
        }
    }
}

/// One right that a token carries (RFC 6749 §3.3).
package enum Scope: String, CaseIterable, Sendable {
    case openid, profile, mailbox, config, admin, audit
    case offlineAccess = "offline_access"
    case mailboxRead = "mailbox.read"
}

package typealias Scopes = Set<Scope>

extension Scopes {
    /// Reads a space-separated list; an unknown scope gives no access and is left out (RFC 6749 §3.3).
    package init(spaceSeparated text: String) {
        self = Scopes(text.split(separator: " ").compactMap { Scope(rawValue: String($0)) })
    }

    /// In the order of their declaration, so that the same set is always the same text.
    package var ordered: [String] { Scope.allCases.filter(contains).map(\.rawValue) }

    package var spaceSeparated: String { ordered.joined(separator: " ") }
}
