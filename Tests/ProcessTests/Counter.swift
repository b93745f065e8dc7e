import Synchronization

/// A number that grows, and somebody who waits for it to get somewhere.
final class Counter: Sendable {
    struct Late: Error, CustomStringConvertible {
        let description: String
    }

    private struct Waiting {
        let id: Int
        let goal: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var value = 0
        var lastID = 0
        var waiting: [Waiting] = []
    }

    private let state = Mutex(State())

    var value: Int { state.withLock { $0.value } }

    func add(_ count: Int = 1) { raise { $0 + count } }

    /// Sets the number when it is larger than what there is.
    func raise(to value: Int) { raise { max($0, value) } }

    func reach(_ goal: Int, within limit: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let timer = Task { [weak self] in
            try await Task.sleep(for: limit)
            self?.giveUp(id)
        }
        defer { timer.cancel() }
        let isThere = await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.value < goal else { return true }
                state.waiting.append(Waiting(id: id, goal: goal, continuation: continuation))
                return false
            }
            if isThere { continuation.resume(returning: true) }
        }
        guard isThere else { throw Late(description: "\(value) of \(goal) after \(limit)") }
    }

    private func raise(_ change: (Int) -> Int) {
        let served = state.withLock { state in
            state.value = change(state.value)
            let served = state.waiting.filter { $0.goal <= state.value }
            state.waiting.removeAll { $0.goal <= state.value }
            return served
        }
        for one in served { one.continuation.resume(returning: true) }
    }

    private func giveUp(_ id: Int) {
        let late = state.withLock { state -> Waiting? in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        late?.continuation.resume(returning: false)
    }
}
