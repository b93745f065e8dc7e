import Synchronization
import TestKit

/// Somebody who reads the same thing over and over, and counts what the answers were.
final class Reader: Sendable {
    struct Figures: Sendable {
        var found = 0
        var unavailable = 0
        var other: [Int: Int] = [:]
        var unanswered = 0
        var slowest = Duration.zero
    }

    let target: String
    /// Answers with what was asked for.
    let found = Counter()
    private let reader: SignedIn
    private let state = Mutex(Figures())
    private let isOver = Atomic(false)

    init(_ reader: SignedIn, of target: String) {
        self.reader = reader
        self.target = target
    }

    var figures: Figures { state.withLock { $0 } }

    func forgetSlowest() { state.withLock { $0.slowest = .zero } }

    func stop() { isOver.store(true, ordering: .relaxed) }

    func run() async {
        while !isOver.load(ordering: .relaxed), !Task.isCancelled {
            let began = ContinuousClock.now
            let answer = try? await reader.get(target)
            note(answer?.status, ContinuousClock.now - began)
            // A steady stream, not as fast as it goes: the senders are what is measured.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func note(_ status: Int?, _ took: Duration) {
        state.withLock { figures in
            figures.slowest = max(figures.slowest, took)
            switch status {
            case 200: figures.found += 1
            case 503: figures.unavailable += 1
            case .some(let status): figures.other[status, default: 0] += 1
            case nil: figures.unanswered += 1
            }
        }
        if status == 200 { found.add() }
    }
}
