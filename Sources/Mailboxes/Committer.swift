import Domain
import Lanes
import Postgres
import Store
import Synchronization

/// Writes whatever sends are waiting in one transaction, and answers all of them after its commit.
///
/// Concurrency makes the batches larger; when there is nothing to do there is no timer either. Two batches are under way at
/// a time, so that one is written while the other waits for the disk. They, and those of other nodes, agree on the order in
/// which rows are locked (see `Batch`).
final class Committer: Service {
    private let database: Database
    private let limits: Mailboxes.Limits
    private let recent: RecentItems
    private let sweeper: Sweeper
    private let observe: Observe
    private let queue: SendQueue
    private let held = HeldHouseholds()
    /// Milliseconds that a message by itself waits for a lock, after a batch with it waited in vain.
    private static let shortWait = 100
    /// So many messages of one batch that wait in vain, one after the other, speak for all.
    private static let waitsAtMost = 5

    init(
        database: Database, limits: Mailboxes.Limits, recent: RecentItems, sweeper: Sweeper,
        observe: @escaping Observe
    ) {
        self.database = database
        self.limits = limits
        queue = SendQueue(SendQueue.Bounds(longestLine: limits.longestLine))
        self.recent = recent
        self.sweeper = sweeper
        self.observe = observe
    }

    var figures: SendQueue.Figures { queue.figures }

    func send(_ draft: Draft) async throws(Failure) -> Receipt { try await queue.send(draft) }

    func run() async {
        // A task of its own, which is not cancelled with this one: what was taken is still committed and answered. Begun by
        // whoever brings the first message, and gone on with where the database's answer was read.
        let work = Task(executorPreference: SameThread()) {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<self.queue.bounds.batchesUnderWay { group.addTask { await self.work() } }
            }
        }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            queue.close()
        }
    }

    private func work() async {
        while true {
            let batch = await queue.batch()
            guard !batch.isEmpty else { return }
            let (stuck, free) = held.split(batch)
            let start = ContinuousClock.now
            await settle(free)
            if !free.isEmpty { queue.noteBatch(took: ContinuousClock.now - start) }
            await settleOneByOne(stuck, patience: Self.shortWait)
        }
    }

    private func settle(_ batch: [SendQueue.Ticket]) async {
        guard !batch.isEmpty else { return }
        switch await outcome(of: batch.map(\.draft), patience: limits.lockWait) {
        case .written(let fates):
            for (ticket, fate) in zip(batch, fates) { ticket.reply.resume(returning: fate) }
        case .refused(let failure, let isHeldUp):
            // When the database itself is away, nobody needs to find that out one after the other.
            guard batch.count > 1, isHeldUp || !failure.isAway else { return Self.refuse(batch, failure) }
            await settleOneByOne(batch, patience: isHeldUp ? Self.shortWait : limits.lockWait)
        }
    }

    /// One message that cannot be written, or whose mailbox somebody else holds, must not take the others with it.
    private func settleOneByOne(_ batch: [SendQueue.Ticket], patience: Int) async {
        var rest = batch
        var waits = 0
        while let ticket = rest.first {
            rest.removeFirst()
            switch await outcome(of: [ticket.draft], patience: patience) {
            case .written(let fates):
                held.remove(ticket.draft)
                for fate in fates { ticket.reply.resume(returning: fate) }
            case .refused(let failure, let isHeldUp):
                waits += isHeldUp ? 1 : 0
                if isHeldUp { held.add(ticket.draft) }
                // Whoever needs what this one waited for in vain would wait in vain as well.
                let speaksForAll = isHeldUp ? waits == Self.waitsAtMost : failure.isAway
                let others = rest.split(by: { speaksForAll || isHeldUp && held.contains($0.draft) })
                Self.refuse([ticket] + others.yes, failure)
                rest = others.no
            }
        }
    }

    private static func refuse(_ batch: [SendQueue.Ticket], _ failure: Failure) {
        for ticket in batch { ticket.reply.resume(returning: .failure(failure)) }
    }

    private enum Outcome {
        case written([Result<Receipt, Failure>])
        case refused(Failure, isHeldUp: Bool)
    }

    private func outcome(of drafts: [Draft], patience: Int) async -> Outcome {
        let wait = Wait()
        do throws(Failure) {
            return .written(try await commit(drafts, patience: patience, noting: wait))
        } catch {
            return .refused(error, isHeldUp: wait.isInVain)
        }
    }

    private func commit(
        _ drafts: [Draft], patience: Int, noting wait: Wait
    ) async throws(Failure) -> [Result<Receipt, Failure>] {
        let clock = ContinuousClock()
        let start = clock.now
        let limits = limits
        let written = try await database.transaction(.underWay) { (tx) throws(Failure) in
            defer { wait.note(tx.isHeldUp) }
            return try Batch(drafts: drafts, limits: limits, patience: patience).write(in: tx)
        }
        // Streams of this node read from memory when the bell rings, so memory comes first.
        recent.add(written.items)
        database.bell.ring(Set(written.items.map(\.mailbox)).map(Doorbell.mailbox))
        sweeper.look(into: written.crowded)
        if !written.items.isEmpty {
            let seconds = (clock.now - start) / .seconds(1)
            observe(.committed(messages: written.messages, items: written.items.count, seconds: seconds))
        }
        return written.fates
    }
}

/// Whether a transaction failed because something took too long; written on a lane.
private final class Wait: Sendable {
    private let state = Atomic(false)

    var isInVain: Bool { state.load(ordering: .relaxed) }

    func note(_ isInVain: Bool) { state.store(isInVain, ordering: .relaxed) }
}

extension [SendQueue.Ticket] {
    /// Asked once of each: the answer may change with time.
    func split(by question: (SendQueue.Ticket) -> Bool) -> (yes: Self, no: Self) {
        let answers = map(question)
        return (
            zip(self, answers).filter(\.1).map(\.0),
            zip(self, answers).filter { !$0.1 }.map(\.0)
        )
    }
}

extension Failure {
    fileprivate var isAway: Bool {
        switch self {
        case .unavailable, .busy: true
        default: false
        }
    }
}
