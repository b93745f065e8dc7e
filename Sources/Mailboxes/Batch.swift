import Domain
import Store
import Wire

/// Several messages, written in one transaction.
///
/// Rows are locked in one order, the same on every node, so that committers never wait for each other in a circle:
/// 1. the message ids, by device and id;
/// 2. the recipients' device lists, by account;
/// 3. the mailboxes, by id;
/// 4. then the items are written.
///
/// A message that is refused leaves nothing behind and does not disturb the others.
struct Batch: Sendable {
    struct Written: Sendable {
        /// In the order of the drafts.
        var fates: [Result<Receipt, Failure>]
        var messages = 0
        var items: [CommittedItem] = []
        /// Mailboxes with so many items that their bytes should be counted.
        var crowded: Set<MailboxID> = []
    }

    let drafts: [Draft]
    let limits: Mailboxes.Limits
    /// Milliseconds to wait for rows that somebody else holds.
    let patience: Int

    func write(in tx: borrowing Transaction) throws(Failure) -> Written {
        let households = Array(Set(drafts.flatMap(\.households)))
        // Each is a statement of its own: the mailboxes must be seen as they are once the lists are locked.
        let found = try tx.query(
            .claiming(drafts, at: tx.now, until: tx.now + limits.maximumAge + .seconds(86_400)),
            .sharingDeviceLists(of: Array(Set(households.map(\.account)))),
            .lockingMailboxes(of: households), waitingForLocks: patience)
        let claimed = Set(found.a)
        let addressing = Addressing(versions: found.b, addresses: found.c)
        let earlier =
            claimed.count == drafts.count ? [:] : try tx.earlierSends(of: drafts.filter { !claimed.contains($0.key) })
        var plan = Plan(limits: limits, now: tx.now)
        let fates: [Result<Receipt, Failure>] = drafts.map { draft in
            guard claimed.contains(draft.key) else { return draft.fate(after: earlier[draft.key]) }
            return plan.add(draft, addressing)
        }
        tx.store(plan)
        return Written(fates: fates, messages: plan.messages, items: plan.items, crowded: plan.crowded)
    }
}

/// What the transaction found of a send whose id was not free.
struct EarlierSend: Sendable {
    let isSenderPresent: Bool
    let sent: (digest: [UInt8], message: SentMessage)?
}

extension Draft {
    fileprivate func fate(after earlier: EarlierSend?) -> Result<Receipt, Failure> {
        guard let earlier, earlier.isSenderPresent else { return .failure(.unauthenticated(.sessionEnded)) }
        guard let sent = earlier.sent else {
            return .failure(.unavailable(cause: "a message id was forgotten while it was looked up"))
        }
        guard sent.digest == digest else { return .failure(.conflict(.messageIDUsed(sent.message))) }
        return .success(Receipt(message: sent.message, isRepeated: true))
    }
}

/// What a batch will write once every message of it was judged.
struct Plan: Sendable {
    struct Counter: Sendable {
        let address: Address
        var nextSeq: Int64
    }

    let limits: Mailboxes.Limits
    let now: Instant
    private(set) var messages = 0
    private(set) var items: [CommittedItem] = []
    private(set) var counters: [MailboxID: Counter] = [:]
    /// Messages that were refused after their id was claimed.
    private(set) var withdrawn: [Draft.Key] = []

    init(limits: Mailboxes.Limits, now: Instant) {
        self.limits = limits
        self.now = now
    }

    mutating func add(_ draft: Draft, _ addressing: Addressing) -> Result<Receipt, Failure> {
        do throws(Failure) {
            for (address, ciphertext) in try addressing.deliveries(of: draft) {
                append(ciphertext, of: draft, to: address)
            }
        } catch {
            withdrawn.append(draft.key)
            return .failure(error)
        }
        messages += 1
        let message = SentMessage(id: draft.id, sentAt: now, accepted: draft.accepted)
        return .success(Receipt(message: message, isRepeated: false))
    }

    /// How far a mailbox has to be cut so that what it holds is within its limit.
    func trim(_ counter: Counter) -> Int64 {
        let bound = counter.nextSeq - 1 - limits.mailboxItems
        let address = counter.address
        return bound > max(address.acked, address.trimmedThrough) ? bound : address.trimmedThrough
    }

    /// Where the largest ciphertexts there can be would be more than a mailbox may hold.
    var crowded: Set<MailboxID> {
        let harmless = limits.mailboxBytes / Int64(max(limits.ciphertextBytes, 1))
        let crowded = counters.filter { _, counter in
            counter.nextSeq - 1 - max(counter.address.acked, counter.address.trimmedThrough) > harmless
        }
        return Set(crowded.keys)
    }

    private mutating func append(_ ciphertext: [UInt8], of draft: Draft, to address: Address) {
        var counter = counters[address.mailbox] ?? Counter(address: address, nextSeq: address.nextSeq)
        let latest = now + limits.maximumAge
        let item = Item(
            seq: counter.nextSeq, id: draft.id, kind: "message", senderAccount: draft.account,
            senderDevice: draft.device, conversation: draft.conversation, sentAt: now, expiresAt: draft.expiresAt,
            ciphertext: ciphertext)
        items.append(
            CommittedItem(
                mailbox: address.mailbox, epoch: address.epoch, keepUntil: min(draft.expiresAt ?? latest, latest),
                item: item))
        counter.nextSeq += 1
        counters[address.mailbox] = counter
    }
}
