/// Tasks that run one piece of work after the other, each begun on the thread that brings it (`SameThread`).
///
/// A task is more memory at once than the allocator keeps at hand, and takes longer to make and to bury than a small
/// request computes.
public final class Runners: Sendable {
    public typealias Work = @Sendable () async -> Void

    private let executor = SameThread()
    private let bench: Bench

    /// - Parameter most: how many tasks rest when there is little to do; the others end.
    public init(keeping most: Int = 64) { bench = Bench(most) }

    deinit { bench.close() }

    public func run(_ work: @escaping Work) {
        while true {
            if let rest = bench.take() { return rest.resume(returning: work) }
            // Runs here until it rests. It is given its first work like all others, since a task holds on to what it was
            // made with for as long as it lives.
            Task(executorPreference: executor) { [bench] in
                while let work = await bench.next() { await work() }
            }
        }
    }
}

/// Where tasks without work wait for it.
private final class Bench: Sendable {
    typealias Rest = UnsafeContinuation<Runners.Work?, Never>

    private struct State {
        var resting: [Rest] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let most: Int

    init(_ most: Int) { self.most = max(1, most) }

    func take() -> Rest? { state.withLock { $0.resting.popLast() } }

    /// Nil for a task that is to end.
    func next() async -> Runners.Work? {
        await withUnsafeContinuation { rest in
            let isKept = state.withLock { state in
                guard !state.isClosed, state.resting.count < most else { return false }
                state.resting.append(rest)
                return true
            }
            if !isKept { rest.resume(returning: nil) }
        }
    }

    func close() {
        let resting = state.withLock { state in
            state.isClosed = true
            defer { state.resting = [] }
            return state.resting
        }
        for rest in resting { rest.resume(returning: nil) }
    }
}
