public import Wire

/// One act that the audit log holds: the closed list of what is audited.
///
/// Sending, acknowledging and reading mail are deliberately absent: they would keep who talks to whom for ever.
public struct Deed: Sendable {
    public enum Action: String, CaseIterable, Sendable {
        case sessionStarted = "session.started"
        case sessionRefused = "session.refused"
        case sessionEnded = "session.ended"
        case refreshTokenReused = "session.refresh-token-reused"
        case authorizationCodeReused = "session.authorization-code-reused"
        case accountCreated = "account.created"
        case accountChanged = "account.changed"
        case accountsRead = "account.read"
        case appCreated = "app.created"
        case appChanged = "app.changed"
        case appRemoved = "app.removed"
        case deviceEnrolled = "device.enrolled"
        case deviceRefused = "device.refused"
        case deviceChanged = "device.changed"
        case deviceRemoved = "device.removed"
        case devicesRead = "device.read"
        case configurationPublished = "configuration.published"
        case configurationRolledBack = "configuration.rolled-back"
        case configurationReported = "configuration.reported"
        case configurationReportsRead = "configuration.reports-read"
        case auditRead = "audit.read"
        case signingKeyMade = "signing-key.made"
        case backupRestored = "backup.restored"
    }

    public enum Outcome: String, CaseIterable, Sendable { case success, refused }

    public enum TargetKind: String, Sendable {
        case account, app, device, session, configuration, audit
        case signingKey = "signing-key"
        case server
    }

    public struct Target: Sendable {
        public let kind: TargetKind
        public let id: String?

        public static func account(_ id: AccountID) -> Target { Target(.account, id.description) }
        public static func app(_ id: AppID) -> Target { Target(.app, id.text) }
        public static func device(_ id: DeviceID) -> Target { Target(.device, id.description) }
        public static func session(_ id: SessionID) -> Target { Target(.session, id.description) }
        public static func configuration(_ app: AppID) -> Target { Target(.configuration, app.text) }

        public init(_ kind: TargetKind, _ id: String?) {
            self.kind = kind
            self.id = id
        }
    }

    public let action: Action
    public let outcome: Outcome
    public let target: Target?
    /// What a reader needs to see of the change; never a secret, key, token, password or ciphertext.
    public let before: JSON?
    public let after: JSON?
    /// A stable word for a refusal, or what an administrator wrote.
    public let reason: String?

    public init(
        _ action: Action, _ outcome: Outcome = .success, of target: Target?, before: JSON? = nil, after: JSON? = nil,
        reason: String? = nil
    ) {
        self.action = action
        self.outcome = outcome
        self.target = target
        self.before = before
        self.after = after
        self.reason = reason
    }
}
