/// The threads behind a lane or a group, and the one line of jobs in front of them.
final class Crew: Sendable {
    typealias Job = @Sendable () -> Void

    enum Acceptance {
        case accepted
        case full
        /// No thread will take it: stopped, or the machine gave none.
        case absent
    }

    private struct State {
        var line = Line<(job: Job, enteredAt: ContinuousClock.Instant)>()
        /// Seconds that jobs have stood in line, ever.
        var waitedFor = 0.0
        var threads: [Thread] = []
        var idle = 0
        var pace = Pace()
        var isClosed = false
    }

    private let state = Lock(State())
    private let signal = Semaphore()
    private let count: Int
    private let maximumWaiting: Int
    private let longestLine: Duration?

    init(name: String, count: Int, maximumWaiting: Int, longestLine: Duration? = nil) {
        self.count = count
        self.maximumWaiting = maximumWaiting
        self.longestLine = longestLine
        let threads = (0..<count).compactMap { number in
            Thread(named: count == 1 ? name : "\(name)-\(number)") { [self] in work() }
        }
        state.withLock {
            $0.threads = threads
            $0.isClosed = threads.isEmpty
        }
    }

    /// Takes a job while no more than that share of the line, from 0 to 1, stands before it.
    func add(_ job: @escaping Job, share: Double = 1) -> Acceptance {
        let acceptance: Acceptance = state.withLock { state in
            guard !state.isClosed else { return .absent }
            guard hasRoom(state, share) else { return .full }
            state.line.append((job, .now))
            return .accepted
        }
        if case .accepted = acceptance { signal.post() }
        return acceptance
    }

    func hasRoom(share: Double) -> Bool { state.withLock { hasRoom($0, share) } }

    private func hasRoom(_ state: borrowing State, _ share: Double) -> Bool {
        // A job that an idle thread is about to take does not count as waiting.
        let waiting = state.line.count - state.idle
        guard waiting >= 0 else { return true }
        guard Double(waiting) < Double(maximumWaiting) * share else { return false }
        guard let longestLine else { return true }
        return state.pace.time(for: waiting, by: count) <= longestLine * share
    }

    /// Takes no more jobs, lets the threads finish what was accepted, and waits for them when asked.
    func close(waits: Bool) {
        let threads = state.withLock { state in
            state.isClosed = true
            let threads = state.threads
            state.threads = []
            return threads
        }
        for _ in threads { signal.post() }
        for thread in threads {
            if waits { thread.join() } else { thread.detach() }
        }
    }

    var waitedFor: Double { state.withLock { $0.waitedFor } }
    var waiting: Int { state.withLock { max(0, $0.line.count - $0.idle) } }

    private func work() {
        var worked: Duration?
        while let job = next(after: worked) {
            let start = ContinuousClock.now
            job()
            worked = ContinuousClock.now - start
        }
    }

    private func next(after worked: Duration?) -> Job? {
        state.withLock { state in
            state.idle += 1
            if let worked { state.pace.note(worked) }
        }
        signal.wait()
        return state.withLock { state in
            state.idle -= 1
            guard let next = state.line.removeFirst() else { return nil }
            state.waitedFor += (ContinuousClock.now - next.enteredAt) / .seconds(1)
            return next.job
        }
    }
}
