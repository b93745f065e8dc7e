import Domain
import Lanes

/// The answer to one send.
struct Receipt: Sendable {
    let message: SentMessage
    /// The same message was taken before; the answer is the one given then.
    let isRepeated: Bool
}

/// Sends on their way to a commit, bounded in number and bytes; whoever comes when it is full is refused at once.
final class SendQueue: Sendable {
    struct Ticket: Sendable {
        let draft: Draft
        let reply: CheckedContinuation<Result<Receipt, Failure>, Never>
        let enteredAt = ContinuousClock.now
    }

    struct Bounds: Sendable {
        var messages = 4_096
        var bytes = 128 * 1024 * 1024
        var batchMessages = 200
        var batchItems = 2_000
        var batchBytes = 8 * 1024 * 1024
        /// Batches that are committed at the same time.
        var batchesUnderWay = 2
        /// Whoever would be reached later than this is refused at once.
        var longestLine = Duration.seconds(1)
        /// Whoever has waited for longer than this is refused instead of written: the sender has given up, or soon will.
        var patience = Duration.seconds(5)
    }

    struct Figures: Sendable {
        var messages = 0
        var bytes = 0
        var largestBatch = 0
        var items = 0
        /// Sends refused because the line was too long, and seconds that others have stood in it, ever.
        var turnedAway = 0
        var waitedFor = 0.0
    }

    private struct State {
        var waiting: [Ticket] = []
        var figures = Figures()
        var isClosed = false
        var takers: [CheckedContinuation<Void, Never>] = []
        /// Of batches, from here to their commit.
        var pace = Pace()
    }

    private enum Entry {
        case taken(wakes: CheckedContinuation<Void, Never>?)
        case refused(Failure)
    }

    let bounds: Bounds
    private let state = Lock(State())

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    var figures: Figures { state.withLock { $0.figures } }

    /// Queues a message and waits for its fate.
    func send(_ draft: Draft) async throws(Failure) -> Receipt {
        let result = await withCheckedContinuation { reply in
            switch enter(Ticket(draft: draft, reply: reply)) {
            case .taken(let taker): taker?.resume()
            case .refused(let failure): reply.resume(returning: .failure(failure))
            }
        }
        return try result.get()
    }

    /// Takes whatever waits, within the bounds of one transaction; waits when there is nothing.
    ///
    /// No two of a batch have the same key: the second of two equal sends must find what became of the first.
    /// - Returns: nothing when the queue is closed and everything was taken.
    func batch() async -> [Ticket] {
        while true {
            let (taken, isClosed) = state.withLock { state in (take(from: &state), state.isClosed) }
            for ticket in taken.late { ticket.reply.resume(returning: .failure(.busy(.sends))) }
            let batch = taken.batch
            if isClosed || !batch.isEmpty { return batch }
            await withCheckedContinuation { taker in
                let isNeeded = state.withLock { state in
                    guard state.waiting.isEmpty, !state.isClosed else { return false }
                    state.takers.append(taker)
                    return true
                }
                if !isNeeded { taker.resume() }
            }
        }
    }

    /// Notes how long a batch took, from which the time that the line takes is told.
    func noteBatch(took duration: Duration) {
        state.withLock { $0.pace.note(duration) }
    }

    /// Refuses new sends; those that wait are still to be taken.
    func close() {
        let takers = state.withLock { state in
            state.isClosed = true
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers { taker.resume() }
    }

    private func enter(_ ticket: Ticket) -> Entry {
        let bytes = ticket.draft.byteCount
        return state.withLock { state in
            guard !state.isClosed else { return .refused(.unavailable(cause: "the node is stopping")) }
            guard state.waiting.count < bounds.messages, state.figures.bytes + bytes <= bounds.bytes,
                !isLineTooLong(state, at: ticket.enteredAt)
            else {
                state.figures.turnedAway += 1
                return .refused(.busy(.sends))
            }
            state.waiting.append(ticket)
            state.figures.messages += 1
            state.figures.items += ticket.draft.itemCount
            state.figures.bytes += bytes
            return .taken(wakes: state.takers.popLast())
        }
    }

    /// Whether the batches ahead would take too long, or the line has not moved for as long.
    private func isLineTooLong(_ state: borrowing State, at now: ContinuousClock.Instant) -> Bool {
        guard let first = state.waiting.first else { return false }
        if now - first.enteredAt > bounds.longestLine { return true }
        let figures = state.figures
        let batches = max(
            figures.messages / bounds.batchMessages, figures.items / bounds.batchItems,
            figures.bytes / bounds.batchBytes)
        return state.pace.time(for: batches, by: bounds.batchesUnderWay) > bounds.longestLine
    }

    private func take(from state: inout State) -> (batch: [Ticket], late: [Ticket]) {
        let now = ContinuousClock.now
        let late = state.waiting.prefix { now - $0.enteredAt > bounds.patience }
        state.waiting.removeFirst(late.count)
        for ticket in late { leave(ticket, &state.figures) }
        state.figures.turnedAway += late.count
        let batch = nextBatch(from: &state)
        for ticket in batch {
            leave(ticket, &state.figures)
            state.figures.waitedFor += (now - ticket.enteredAt) / .seconds(1)
        }
        state.figures.largestBatch = max(state.figures.largestBatch, batch.count)
        return (batch, Array(late))
    }

    private func leave(_ ticket: Ticket, _ figures: inout Figures) {
        figures.messages -= 1
        figures.items -= ticket.draft.itemCount
        figures.bytes -= ticket.draft.byteCount
    }

    private func nextBatch(from state: inout State) -> [Ticket] {
        var batch: [Ticket] = []
        var heldBack: [Ticket] = []
        var keys: Set<Draft.Key> = []
        var (items, bytes, seen) = (0, 0, 0)
        for ticket in state.waiting {
            let draft = ticket.draft
            let fits =
                batch.count < bounds.batchMessages && items + draft.itemCount <= bounds.batchItems
                && bytes + draft.byteCount <= bounds.batchBytes
            guard fits || batch.isEmpty else { break }
            seen += 1
            guard keys.insert(draft.key).inserted else {
                heldBack.append(ticket)
                continue
            }
            batch.append(ticket)
            items += draft.itemCount
            bytes += draft.byteCount
        }
        state.waiting.replaceSubrange(0..<seen, with: heldBack)
        return batch
    }
}
