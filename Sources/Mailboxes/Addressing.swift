import Domain

/// A mailbox that a message can reach, its row locked.
struct Address: Sendable {
    let mailbox: MailboxID
    let account: AccountID
    let app: AppID
    let device: DeviceID
    let keyVersion: Int64
    let epoch: Int64
    let nextSeq: Int64
    let trimmedThrough: Int64
    /// At least this much is acknowledged.
    let acked: Int64
}

/// One account in one app: what a message addresses as a whole.
struct Household: Hashable, Sendable {
    let account: AccountID
    let app: AppID
}

/// The device sets of all the accounts that a batch writes to, held against change.
struct Addressing: Sendable {
    /// The current version of each account's device list; an account without one is no account, or is disabled.
    private let versions: [AccountID: Int64]
    private let addresses: [Household: [DeviceID: Address]]

    init(versions: [(account: AccountID, version: Int64)], addresses: [Address]) {
        self.versions = Dictionary(versions.map { ($0.account, $0.version) }, uniquingKeysWith: { first, _ in first })
        var grouped: [Household: [DeviceID: Address]] = [:]
        for address in addresses {
            let household = Household(account: address.account, app: address.app)
            grouped[household, default: [:]][address.device] = address
        }
        self.addresses = grouped
    }

    /// Where each envelope goes, in their order; refused unless the envelopes are exactly for the devices there are.
    func deliveries(of draft: Draft) throws(Failure) -> [(address: Address, ciphertext: [UInt8])] {
        let unknown = draft.recipients.indices.filter { versions[draft.recipients[$0].account] == nil }
        guard unknown.isEmpty else {
            throw .missingParts(
                unknown.map { FieldFault(pointer: "/recipients/\($0)/accountId", detail: "is no account") })
        }
        var mismatches: [DeviceSetMismatch] = []
        var deliveries: [(address: Address, ciphertext: [UInt8])] = []
        for recipient in draft.recipients {
            let devices = devices(of: recipient.account, for: draft)
            if let mismatch = mismatch(of: recipient, devices) { mismatches.append(mismatch) }
            for envelope in recipient.envelopes {
                if let address = devices[envelope.device] { deliveries.append((address, envelope.ciphertext)) }
            }
        }
        guard mismatches.isEmpty else { throw .conflict(.deviceSet(mismatches)) }
        return deliveries
    }

    private func devices(of account: AccountID, for draft: Draft) -> [DeviceID: Address] {
        var devices = addresses[Household(account: account, app: draft.app)] ?? [:]
        devices[draft.device] = nil
        return devices
    }

    private func mismatch(of recipient: Draft.Recipient, _ devices: [DeviceID: Address]) -> DeviceSetMismatch? {
        let addressed = Set(recipient.envelopes.map(\.device))
        let missing = devices.keys.filter { !addressed.contains($0) }
        let extra = addressed.filter { devices[$0] == nil }
        let stale = recipient.envelopes.filter { envelope in
            devices[envelope.device].map { $0.keyVersion != envelope.keyVersion } ?? false
        }
        guard !missing.isEmpty || !extra.isEmpty || !stale.isEmpty else { return nil }
        return DeviceSetMismatch(
            account: recipient.account, version: versions[recipient.account] ?? 0, missing: missing.sorted(),
            extra: extra.sorted(), stale: stale.map(\.device).sorted())
    }
}
