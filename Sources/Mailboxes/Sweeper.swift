import Domain
import Store
import Synchronization

/// Deletes what was acknowledged or is too old, in small transactions, on one node at a time.
final class Sweeper: Service {
    private let database: Database
    private let limits: Mailboxes.Limits
    private let observe: Observe
    /// Mailboxes that may hold too many bytes; when there are too many to remember, the next message names them again.
    private let crowded = Mutex<Set<MailboxID>>([])
    private static let crowdedLimit = 10_000

    init(database: Database, limits: Mailboxes.Limits, observe: @escaping Observe) {
        self.database = database
        self.limits = limits
        self.observe = observe
    }

    func look(into mailboxes: Set<MailboxID>) {
        guard !mailboxes.isEmpty else { return }
        crowded.withLock { crowded in
            guard crowded.count < Self.crowdedLimit else { return }
            crowded.formUnion(mailboxes)
        }
    }

    func run() async {
        var isFaltering = false
        while !Task.isCancelled {
            do throws(Failure) {
                try await sweep()
                if isFaltering { observe(.recovered(task: "mailbox sweeper")) }
                isFaltering = false
            } catch {
                if !isFaltering, !Task.isCancelled {
                    observe(.faltered(task: "mailbox sweeper", cause: error.cause))
                    isFaltering = true
                }
            }
            try? await Task.sleep(for: limits.sweepEvery)
        }
    }

    /// Sweeps until a pass finds little; another node may have the duty, and then this one does nothing.
    @discardableResult
    func sweep() async throws(Failure) -> Mailboxes.Swept {
        var total = Mailboxes.Swept(items: try await trim(), messages: 0)
        while !Task.isCancelled {
            let pass = try await pass()
            total.items += pass.swept.items
            total.messages += pass.swept.messages
            guard pass.mayBeMore else { break }
        }
        if total != Mailboxes.Swept() { observe(.swept(items: total.items, messages: total.messages)) }
        return total
    }

    /// Each mailbox in a transaction of its own: no other lock is held meanwhile.
    private func trim() async throws(Failure) -> Int {
        let bytes = limits.mailboxBytes
        let mailboxes = crowded.withLock { crowded in
            defer { crowded = [] }
            return crowded
        }
        var items = 0
        for mailbox in mailboxes {
            items += try await database.transaction { (tx) throws(Failure) in try tx.trim(mailbox, toBytes: bytes) }
        }
        return items
    }

    private func pass() async throws(Failure) -> (swept: Mailboxes.Swept, mayBeMore: Bool) {
        try await database.transaction { (tx) throws(Failure) in
            guard try tx.take(.sweepMailboxes) else { return (Mailboxes.Swept(), false) }
            let behind = try tx.sweepAcknowledged()
            let expired = try tx.sweepExpired()
            let messages = try tx.sweepMessages()
            let swept = Mailboxes.Swept(items: behind.items + expired, messages: messages)
            let isFull = behind.mailboxes == Sweep.mailboxes || expired == Sweep.rows || messages == Sweep.rows
            return (swept, isFull || behind.isUnfinished)
        }
    }
}

/// How much one transaction deletes.
enum Sweep {
    static let mailboxes = 100
    static let itemsOfMailbox: Int64 = 100
    static let rows = 2_000
}
