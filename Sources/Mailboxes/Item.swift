import Domain
import Wire

/// Sequence numbers of items: 1, 2, 3, … in the order of commits.
enum Sequence {
    /// What JavaScript and JSON tools hold exactly.
    static let limit: Int64 = 9_007_199_254_740_991
}

/// One thing waiting in a mailbox.
struct Item: Sendable {
    let seq: Int64
    let id: MessageID
    let kind: String
    let senderAccount: AccountID
    let senderDevice: DeviceID
    let conversation: String?
    let sentAt: Instant
    let expiresAt: Instant?
    /// `nil` when it is too large for where it goes, and has to be read from the mailbox.
    let ciphertext: [UInt8]?

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("seq", seq)
        writer.field("id", id.uuid)
        writer.field("kind", kind)
        writer.key("from")
        writer.beginObject()
        writer.field("accountId", senderAccount.uuid)
        writer.field("deviceId", senderDevice.uuid)
        writer.endObject()
        writer.field("conversationId", conversation)
        writer.field("sentAt", sentAt)
        writer.field("expiresAt", expiresAt)
        if let ciphertext {
            writer.key("ciphertext")
            writer.base64(ciphertext)
        } else {
            writer.field("fetch", true)
        }
        writer.endObject()
    }
}

/// An item that this node has just committed.
struct CommittedItem: Sendable {
    let mailbox: MailboxID
    let epoch: Int64
    let keepUntil: Instant
    let item: Item
}
