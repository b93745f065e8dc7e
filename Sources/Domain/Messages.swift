public import Wire

/// How a send missed the device set of one account.
public struct DeviceSetMismatch: Sendable {
    public let account: AccountID
    /// The current version of the account's device list.
    public let version: Int64
    public let missing: [DeviceID]
    public let extra: [DeviceID]
    /// Addressed with another key version than the current one.
    public let stale: [DeviceID]

    public init(account: AccountID, version: Int64, missing: [DeviceID], extra: [DeviceID], stale: [DeviceID]) {
        self.account = account
        self.version = version
        self.missing = missing
        self.extra = extra
        self.stale = stale
    }
}

/// The answer to a send, first or repeated.
public struct SentMessage: Sendable {
    public let id: MessageID
    public let sentAt: Instant
    public let accepted: [DeviceID]

    public init(id: MessageID, sentAt: Instant, accepted: [DeviceID]) {
        self.id = id
        self.sentAt = sentAt
        self.accepted = accepted
    }
}
