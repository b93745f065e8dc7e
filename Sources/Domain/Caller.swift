public import Wire

/// Who is calling: proven by a token, with a session that had not ended when it was checked.
public struct Caller: Sendable {
    public let account: AccountID
    public let role: Role
    public let app: AppID
    public let session: SessionID
    public let scopes: Scopes
    /// When the token ends; a stream ends before it.
    public let expiresAt: Instant
    /// From the session row, never from a claim; `nil` until the device has enrolled.
    public var device: DeviceID?
    public let requestID: String

    public init(
        account: AccountID, role: Role, app: AppID, session: SessionID, scopes: Scopes, expiresAt: Instant,
        device: DeviceID?, requestID: String
    ) {
        self.account = account
        self.role = role
        self.app = app
        self.session = session
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.device = device
        self.requestID = requestID
    }

    public var actor: Actor {
        Actor(kind: .account, id: account.description, app: app, session: session, requestID: requestID)
    }
}

/// Who did what the audit log holds.
public struct Actor: Sendable {
    public enum Kind: String, Sendable {
        case account
        /// Somebody who has not proven who they are.
        case anonymous
        /// Whoever runs the program on the server's own machine.
        case `operator`
        /// The server itself.
        case system
    }

    public let kind: Kind
    public let id: String?
    public let app: AppID?
    public let session: SessionID?
    public let requestID: String?

    public init(kind: Kind, id: String? = nil, app: AppID? = nil, session: SessionID? = nil, requestID: String? = nil) {
        self.kind = kind
        self.id = id
        self.app = app
        self.session = session
        self.requestID = requestID
    }
}
