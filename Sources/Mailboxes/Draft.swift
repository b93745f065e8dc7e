import Crypto
import Domain
import Wire

/// A message as its sender wants it, read and in good form, not yet stored.
struct Draft: Sendable {
    struct Envelope: Sendable {
        let device: DeviceID
        let keyVersion: Int64
        let ciphertext: [UInt8]
    }

    struct Recipient: Sendable {
        let account: AccountID
        let envelopes: [Envelope]
    }

    /// What makes a send the same send: message ids belong to the sending device.
    struct Key: Hashable, Sendable {
        let device: DeviceID
        let id: MessageID
    }

    let id: MessageID
    let account: AccountID
    let device: DeviceID
    let app: AppID
    let conversation: String?
    let expiresAt: Instant?
    let recipients: [Recipient]
    let digest: [UInt8]

    init(
        id: MessageID, account: AccountID, device: DeviceID, app: AppID, conversation: String? = nil,
        isUrgent: Bool = false, expiresAt: Instant? = nil, recipients: [Recipient]
    ) {
        self.id = id
        self.account = account
        self.device = device
        self.app = app
        self.conversation = conversation
        self.expiresAt = expiresAt
        self.recipients = recipients
        digest = Self.digest(app, conversation, isUrgent, expiresAt, recipients)
    }

    var key: Key { Key(device: device, id: id) }
    var accepted: [DeviceID] { recipients.flatMap { $0.envelopes.map(\.device) } }
    var itemCount: Int { recipients.reduce(0) { $0 + $1.envelopes.count } }
    var byteCount: Int { recipients.reduce(0) { $0 + $1.envelopes.reduce(0) { $0 + $1.ciphertext.count } } }
}

extension Draft {
    /// A digest of what was parsed, whatever the order in which recipients and envelopes were listed.
    ///
    /// `deviceListVersion` is left out: a sender that repeats a send may have learned a newer one meanwhile.
    private static func digest(
        _ app: AppID, _ conversation: String?, _ isUrgent: Bool, _ expiresAt: Instant?, _ recipients: [Recipient]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 256 + recipients.reduce(0) { $0 + $1.envelopes.size })
        writer.byte(1)
        writer.bytes(Array(app.text.utf8))
        writer.bytes(conversation.map { [1] + Array($0.utf8) } ?? [])
        writer.byte(isUrgent ? 1 : 0)
        writer.uint64(UInt64(bitPattern: expiresAt?.microseconds ?? .min))
        for recipient in recipients.sorted(by: { $0.account < $1.account }) {
            writer.uuid(recipient.account.uuid)
            writer.varint(UInt64(recipient.envelopes.count))
            for envelope in recipient.envelopes.sorted(by: { $0.device < $1.device }) {
                writer.uuid(envelope.device.uuid)
                writer.uint64(UInt64(bitPattern: envelope.keyVersion))
                writer.bytes(envelope.ciphertext)
            }
        }
        return BLAKE2b.hash(writer.finish())
    }
}

extension [Draft.Envelope] {
    fileprivate var size: Int { reduce(32) { $0 + $1.ciphertext.count + 32 } }
}
