import API
import Domain
import Wire

/// What one device and one account may send, counted in envelopes, and how much of it to one device of somebody else.
///
/// The last is what keeps one member from pushing out what others have left in a full mailbox: its oldest items go.
final class SendLimit: Sendable {
    private struct Pair: Hashable, Sendable {
        let sender: AccountID
        let recipient: DeviceID
    }

    private let byDevice: RateLimit<DeviceID>
    private let byAccount: RateLimit<AccountID>
    private let byRecipient: RateLimit<Pair>

    init(_ limits: Mailboxes.Limits) {
        byDevice = RateLimit(limits.sendsOfDevice)
        byAccount = RateLimit(limits.sendsOfAccount)
        // A pair at rest is forgotten, so these are the pairs of less than a minute.
        byRecipient = RateLimit(limits.sendsToDevice, keys: 200_000)
    }

    /// Spends what the message costs, or nothing when one of the limits refuses it.
    func spend(_ draft: Draft, at now: Instant) throws(Failure) -> [RateStanding] {
        let count = draft.itemCount
        let device = try byDevice.spend(
            draft.device, count, at: now, else: "This device sends more than one may: wait, or send to fewer.")
        let account = byAccount.take(draft.account, count, at: now)
        if let seconds = account.retryAfter {
            byDevice.giveBack(draft.device, count)
            throw .limited(
                retryAfter: seconds, "This account sends more than one may: wait, or send to fewer.", by: account)
        }
        let pairs = draft.recipients.filter { $0.account != draft.account }.flatMap { recipient in
            recipient.envelopes.map { Pair(sender: draft.account, recipient: $0.device) }
        }
        if let standing = byRecipient.takeAll(pairs, at: now), let seconds = standing.retryAfter {
            byDevice.giveBack(draft.device, count)
            byAccount.giveBack(draft.account, count)
            throw .limited(
                retryAfter: seconds, "One of these devices has got as much from this account as it may for now.",
                by: standing)
        }
        return [device, account]
    }
}
