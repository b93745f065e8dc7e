import Domain
import Synchronization

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
    }

    struct Bounds: Sendable {
        var messages = 4_096
        var bytes = 128 * 1024 * 1024
        var batchMessages = 200
        var batchItems = 2_000
        var batchBytes = 8 * 1024 * 1024
    }

    struct Figures: Sendable {
        var messages = 0
        var bytes = 0
        var largestBatch = 0
    }

    private struct State {
        var waiting: [Ticket] = []
        var figures = Figures()
        var isClosed = false
        var takers: [CheckedContinuation<Void, Never>] = []
    }

    private enum Entry {
        case taken(wakes: CheckedContinuation<Void, Never>?)
        case refused(StaticString)
    }

    private let bounds: Bounds
    private let state = Mutex(State())

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    var figures: Figures { state.withLock { $0.figures } }

    /// Queues a message and waits for its fate.
    func send(_ draft: Draft) async throws(Failure) -> Receipt {
        let result = await withCheckedContinuation { reply in
            switch enter(Ticket(draft: draft, reply: reply)) {
            case .taken(let taker): taker?.resume()
            case .refused(let cause): reply.resume(returning: .failure(.unavailable(cause: "\(cause)")))
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
            let (batch, isClosed) = state.withLock { state in (take(from: &state), state.isClosed) }
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
            guard !state.isClosed else { return .refused("the node is stopping") }
            guard state.waiting.count < bounds.messages, state.figures.bytes + bytes <= bounds.bytes else {
                return .refused("too many messages wait for a commit")
            }
            state.waiting.append(ticket)
            state.figures.messages += 1
            state.figures.bytes += bytes
            return .taken(wakes: state.takers.popLast())
        }
    }

    private func take(from state: inout State) -> [Ticket] {
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
        state.figures.messages -= batch.count
        state.figures.bytes -= bytes
        state.figures.largestBatch = max(state.figures.largestBatch, batch.count)
        return batch
    }
}
