package import Wire

/// How a send missed the device set of one account.
package struct DeviceSetMismatch: Sendable {
    package let account: AccountID
    /// The current version of the account's device list.
    package let version: Int64
    package let missing: [DeviceID]
    package let extra: [DeviceID]
    /// Addressed with another key version than the current one.
    package let stale: [DeviceID]

    package init(account: AccountID, version: Int64, missing: [DeviceID], extra: [DeviceID], stale: [DeviceID]) {
        self.account = account
        self.version = version
        self.missing = missing
        self.extra = extra
        self.stale = stale
    }
}

/// The answer to a send, first or repeated.
package struct SentMessage: Sendable {
    package let id: MessageID
    package let sentAt: Instant
    package let accepted: [DeviceID]

    package init(id: MessageID, sentAt: Instant, accepted: [DeviceID]) {
        self.id = id
        self.sentAt = sentAt
        self.accepted = accepted
    }
}
