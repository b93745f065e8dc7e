public import Domain
import Wire

/// A hint that something changed.
///
/// Correctness rests on cursors alone: a bell may be lost, or ring twice.
public enum Doorbell: Hashable, Sendable {
    case mailbox(MailboxID)
    case configuration(AppID)
    /// The account's set of devices, or a key in it, changed; the version it has now.
    case devices(AccountID, version: Int64)
    case sessionEnded(SessionID)
    case audit

    /// One line for other nodes.
    var line: String {
        switch self {
        case .mailbox(let id): "m\(id)"
        case .configuration(let app): "c\(app)"
        case .devices(let account, let version): "d\(account)\(version)"
        case .sessionEnded(let session): "s\(session)"
        case .audit: "a"
        }
    }

    /// A newer node may send kinds this one does not know; they are nothing to it.
    init?(line: Substring) {
        let rest = String(line.dropFirst())
        switch line.first {
        case "m":
            guard let id = MailboxID(rest) else { return nil }
            self = .mailbox(id)
        case "c":
            guard let app = AppID(rest) else { return nil }
            self = .configuration(app)
        case "d":
            guard let id = AccountID(String(rest.prefix(36))), let version = Int64(rest.dropFirst(36)) else {
                return nil
            }
            self = .devices(id, version: version)
        case "s":
            guard let id = SessionID(rest) else { return nil }
            self = .sessionEnded(id)
        case "a": self = .audit
        default: return nil
        }
    }
}
