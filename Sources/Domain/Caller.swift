package import Wire

/// Who is calling: proven by a token, with a session that had not ended when it was checked.
package struct Caller: Sendable {
    package let account: AccountID
    package let role: Role
    package let app: AppID
    package let session: SessionID
    package let scopes: Scopes
    /// When the token ends; a stream ends before it.
    package let expiresAt: Instant
    /// From the session row, never from a claim; `nil` until the device has enrolled.
    package var device: DeviceID?
    package let requestID: String

    package init(
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

    package var actor: Actor {
        Actor(kind: .account, id: account.description, app: app, session: session, requestID: requestID)
    }
}

/// Who did what the audit log holds.
package struct Actor: Sendable {
    package enum Kind: String, Sendable {
        case account
        /// Somebody who has not proven who they are.
        case anonymous
        /// Whoever runs the program on the server's own machine.
        case `operator`
        /// The server itself.
        case system
    }

    package let kind: Kind
    package let id: String?
    package let app: AppID?
    package let session: SessionID?
    package let requestID: String?

    package init(kind: Kind, id: String? = nil, app: AppID? = nil, session: SessionID? = nil, requestID: String? = nil)
    {
        self.kind = kind
        self.id = id
        self.app = app
        self.session = session
        self.requestID = requestID
    }
}
