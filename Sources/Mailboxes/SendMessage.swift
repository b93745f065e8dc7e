import API
import Domain
import HTTP
import Wire

/// Takes a message for every device of its recipients, all or nothing; answered when it is durable.
struct SendMessage: Endpoint {
    static let route = Route.post("/v1/messages")
    static let access = Access.device(.mailbox)

    let committer: Committer
    let limits: Mailboxes.Limits
    let rates: SendLimit
    let clock: any Clock

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let device = caller.device else { throw .forbidden("this session has no device yet") }
        _ = try request.parameters()
        let draft = try draft(from: request, caller, device)
        let standings = try rates.spend(draft, at: clock.now())
        let receipt = try await committer.send(draft)
        var response = Response.json(receipt.isRepeated ? 200 : 201) { receipt.message.write(to: &$0) }
        response.add(standings)
        return response
    }

    func draft(from request: Request, _ caller: Caller, _ device: DeviceID) throws(Failure) -> Draft {
        let now = clock.now()
        return try request.parse { fields in
            let id: MessageID = fields.id("id")
            let conversation = fields.optionalText("conversationId", 1...128)
            let isUrgent = fields.flag("urgent") ?? false
            let expiresAt = fields.instant("expiresAt")
            if let expiresAt, expiresAt <= now { fields.fault("expiresAt", "must lie in the future") }
            let recipients = recipients(in: &fields)
            return Draft(
                id: id, account: caller.account, device: device, app: caller.app, conversation: conversation,
                isUrgent: isUrgent, expiresAt: expiresAt, recipients: recipients)
        }
    }

    private func recipients(in fields: inout Fields) -> [Draft.Recipient] {
        var accounts: Set<AccountID> = []
        let before = fields.faults.count
        let recipients = fields.list("recipients", count: 1...256) { fields in
            let account: AccountID = fields.id("accountId")
            if !accounts.insert(account).inserted { fields.fault("accountId", "is listed twice") }
            // A hint for people who read logs of clients; the set itself is what is compared.
            _ = fields.integer("deviceListVersion", in: 0...Sequence.limit)
            return Draft.Recipient(account: account, envelopes: envelopes(in: &fields))
        }
        let count = recipients.reduce(0) { $0 + $1.envelopes.count }
        if fields.faults.count == before, !(1...limits.envelopes).contains(count) {
            fields.fault("recipients", "must hold 1 to \(limits.envelopes) envelopes together")
        }
        return recipients
    }

    private func envelopes(in fields: inout Fields) -> [Draft.Envelope] {
        var devices: Set<DeviceID> = []
        return fields.list("envelopes", count: 0...limits.envelopes) { fields in
            let device: DeviceID = fields.id("deviceId")
            if !devices.insert(device).inserted { fields.fault("deviceId", "is listed twice") }
            return Draft.Envelope(
                device: device, keyVersion: fields.integer("keyVersion", in: 1...Sequence.limit),
                ciphertext: fields.bytes("ciphertext", 1...limits.ciphertextBytes))
        }
    }
}
