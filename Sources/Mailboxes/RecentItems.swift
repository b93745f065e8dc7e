import API
import Domain
import Lanes
import Wire

/// The newest items of mailboxes that somebody on this node listens to, encoded once, so that live delivery reads nothing.
///
/// Filled after a commit and before the bell rings. Of each mailbox it holds an unbroken run of sequence numbers; when
/// another node wrote in between, the run starts anew and streams read the table. Beyond its bounds the oldest go.
final class RecentItems: Sendable {
    struct Bounds: Sendable {
        var items = 20_000
        var bytes = 64 * 1024 * 1024
    }

    struct Figures: Sendable {
        var items = 0
        var bytes = 0
        var watched = 0
    }

    fileprivate struct Kept {
        let seq: Int64
        let keepUntil: Instant
        let update: Update
    }

    fileprivate struct Run {
        var listeners = 0
        var epoch: Int64 = 0
        /// The highest number that this node is known to have written.
        var last: Int64 = 0
        var items: ArraySlice<Kept> = []
    }

    fileprivate struct State {
        var runs: [MailboxID: Run] = [:]
        /// The mailboxes of all items kept, oldest first; some of those items may be gone already.
        var order: ArraySlice<MailboxID> = []
        var items = 0
        var bytes = 0
    }

    private let clock: any Clock
    private let bounds: Bounds
    private let state = Lock(State())

    init(clock: any Clock, bounds: Bounds = Bounds()) {
        self.clock = clock
        self.bounds = bounds
    }

    var figures: Figures {
        state.withLock { Figures(items: $0.items, bytes: $0.bytes, watched: $0.runs.count) }
    }

    /// Begins to keep what arrives in a mailbox, until as many `forget` as `watch` were called.
    func watch(_ mailbox: MailboxID) {
        state.withLock { $0.runs[mailbox, default: Run()].listeners += 1 }
    }

    func forget(_ mailbox: MailboxID) {
        state.withLock { state in
            guard var run = state.runs.removeValue(forKey: mailbox) else { return }
            run.listeners -= 1
            if run.listeners > 0 {
                state.runs[mailbox] = run
            } else {
                state.drop(run.items)
            }
        }
    }

    /// Takes items soon after their commit.
    ///
    /// Two batches may come in the wrong order; that only breaks a run.
    func add(_ items: [CommittedItem]) {
        let watched = state.withLock { state in items.filter { state.runs[$0.mailbox] != nil } }
        guard !watched.isEmpty else { return }
        let encoded = watched.map { ($0, MailboxSource.update(with: $0.item, epoch: $0.epoch)) }
        state.withLock { state in
            for (item, update) in encoded { state.append(item, update) }
            state.shrink(to: bounds)
        }
    }

    /// Everything after a position that this node wrote, or `nil` when that cannot be told without the table.
    func updates(after position: MailboxPosition, in mailbox: MailboxID) -> [Update]? {
        let now = clock.now()
        return state.withLock { state in
            guard let run = state.runs[mailbox], run.epoch == position.epoch else { return nil }
            guard position.seq != run.last else { return [] }
            guard let first = run.items.first, first.seq <= position.seq + 1, position.seq < run.last else {
                return nil
            }
            let rest = run.items.dropFirst(Int(position.seq + 1 - first.seq))
            guard rest.allSatisfy({ $0.keepUntil > now }) else { return nil }
            return rest.map(\.update)
        }
    }
}

extension RecentItems.State {
    fileprivate mutating func append(_ item: CommittedItem, _ update: Update) {
        guard var run = runs.removeValue(forKey: item.mailbox) else { return }
        defer { runs[item.mailbox] = run }
        // Of two batches that come in the wrong order the later one stays: who asks for the other reads the table.
        guard run.epoch != item.epoch || item.item.seq > run.last else { return }
        if run.epoch != item.epoch || item.item.seq != run.last + 1 {
            drop(run.items)
            run.items = []
        }
        run.epoch = item.epoch
        run.last = item.item.seq
        run.items.append(RecentItems.Kept(seq: item.item.seq, keepUntil: item.keepUntil, update: update))
        order.append(item.mailbox)
        items += 1
        bytes += update.data.count
    }

    /// Every item kept has its entry in `order`, so the loop ends; entries of items that are gone are just passed over.
    fileprivate mutating func shrink(to bounds: RecentItems.Bounds) {
        while items > bounds.items || bytes > bounds.bytes || order.count > bounds.items * 2 {
            guard let oldest = order.popFirst() else { return }
            guard var run = runs.removeValue(forKey: oldest) else { continue }
            if let item = run.items.popFirst() { drop([item]) }
            run.items.compact()
            runs[oldest] = run
        }
        order.compact()
    }

    fileprivate mutating func drop(_ gone: ArraySlice<RecentItems.Kept>) {
        items -= gone.count
        bytes -= gone.reduce(0) { $0 + $1.update.data.count }
    }
}

extension ArraySlice {
    /// Lets go of the elements that were popped, once they are more than those that are left.
    fileprivate mutating func compact() {
        guard startIndex > Swift.max(64, count) else { return }
        self = ArraySlice(Array(self))
    }
}
