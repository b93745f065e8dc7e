import Domain
import Store

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
    private let queue = SendQueue()
    private static let batchesUnderWay = 2

    init(
        database: Database, limits: Mailboxes.Limits, recent: RecentItems, sweeper: Sweeper,
        observe: @escaping Observe
    ) {
        self.database = database
        self.limits = limits
        self.recent = recent
        self.sweeper = sweeper
        self.observe = observe
    }

    var figures: SendQueue.Figures { queue.figures }

    func send(_ draft: Draft) async throws(Failure) -> Receipt { try await queue.send(draft) }

    func run() async {
        // A task of its own, which is not cancelled with this one: what was taken is still committed and answered.
        let work = Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.batchesUnderWay { group.addTask { await self.work() } }
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
            for (ticket, fate) in zip(batch, await settle(batch.map(\.draft))) {
                ticket.reply.resume(returning: fate)
            }
        }
    }

    private func settle(_ drafts: [Draft]) async -> [Result<Receipt, Failure>] {
        do throws(Failure) {
            return try await commit(drafts)
        } catch {
            return drafts.count == 1 ? [.failure(error)] : await settleOneByOne(drafts)
        }
    }

    /// One message that cannot be written must not take the others with it.
    private func settleOneByOne(_ drafts: [Draft]) async -> [Result<Receipt, Failure>] {
        var fates: [Result<Receipt, Failure>] = []
        var isAway: Failure?
        for draft in drafts {
            if let isAway {
                fates.append(.failure(isAway))
                continue
            }
            do throws(Failure) {
                fates += try await commit([draft])
            } catch {
                fates.append(.failure(error))
                // When the database itself is away, the rest need not find that out one after the other.
                if case .unavailable = error { isAway = error }
            }
        }
        return fates
    }

    private func commit(_ drafts: [Draft]) async throws(Failure) -> [Result<Receipt, Failure>] {
        let clock = ContinuousClock()
        let start = clock.now
        let limits = limits
        let written = try await database.transaction { (tx) throws(Failure) in
            try Batch(drafts: drafts, limits: limits).write(in: tx)
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
