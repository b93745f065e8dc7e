import API
import Domain
import Wire

extension Draft {
    /// Reads what a device sends; whose it is, the caller says.
    init(
        _ fields: inout Fields, from caller: Caller, _ device: DeviceID, within limits: Mailboxes.Limits,
        at now: Instant
    ) {
        let id: MessageID = fields.id("id")
        let conversation = fields.optionalText("conversationId", 1...128)
        let isUrgent = fields.flag("urgent") ?? false
        let expiresAt = fields.instant("expiresAt")
        if let expiresAt, expiresAt <= now { fields.fault("expiresAt", "must lie in the future") }
        let recipients = Self.recipients(in: &fields, limits)
        self.init(
            id: id, account: caller.account, device: device, app: caller.app, conversation: conversation,
            isUrgent: isUrgent, expiresAt: expiresAt, recipients: recipients)
    }

    private static func recipients(in fields: inout Fields, _ limits: Mailboxes.Limits) -> [Recipient] {
        var accounts: Set<AccountID> = []
        let before = fields.faults.count
        let recipients = fields.list("recipients", count: 1...256) { fields in
            let account: AccountID = fields.id("accountId")
            if !accounts.insert(account).inserted { fields.fault("accountId", "is listed twice") }
            // A hint for people who read logs of clients; the set itself is what is compared.
            _ = fields.integer("deviceListVersion", in: 0...Sequence.limit)
            return Recipient(account: account, envelopes: envelopes(in: &fields, limits))
        }
        let count = recipients.reduce(0) { $0 + $1.envelopes.count }
        if fields.faults.count == before, !(1...limits.envelopes).contains(count) {
            fields.fault("recipients", "must hold 1 to \(limits.envelopes) envelopes together")
        }
        return recipients
    }

    private static func envelopes(in fields: inout Fields, _ limits: Mailboxes.Limits) -> [Envelope] {
        var devices: Set<DeviceID> = []
        return fields.list("envelopes", count: 0...limits.envelopes) { fields in
            let device: DeviceID = fields.id("deviceId")
            if !devices.insert(device).inserted { fields.fault("deviceId", "is listed twice") }
            return Envelope(
                device: device, keyVersion: fields.integer("keyVersion", in: 1...Sequence.limit),
                ciphertext: fields.bytes("ciphertext", 1...limits.ciphertextBytes))
        }
    }
}
