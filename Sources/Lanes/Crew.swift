internal import Synchronization

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
        var line = Line<Job>()
        var threads: [Thread] = []
        var idle = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let signal = Semaphore()
    private let maximumWaiting: Int

    init(name: String, count: Int, maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
        let threads = (0..<count).compactMap { number in
            Thread(named: count == 1 ? name : "\(name)-\(number)") { [self] in work() }
        }
        state.withLock {
            $0.threads = threads
            $0.isClosed = threads.isEmpty
        }
    }

    func add(_ job: @escaping Job) -> Acceptance {
        let acceptance: Acceptance = state.withLock { state in
            guard !state.isClosed else { return .absent }
            // A job that an idle thread is about to take does not count as waiting.
            guard state.line.count - state.idle < maximumWaiting else { return .full }
            state.line.append(job)
            return .accepted
        }
        if case .accepted = acceptance { signal.post() }
        return acceptance
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

    var waiting: Int { state.withLock { max(0, $0.line.count - $0.idle) } }

    private func work() {
        while let job = next() { job() }
    }

    private func next() -> Job? {
        state.withLock { $0.idle += 1 }
        signal.wait()
        return state.withLock { state in
            state.idle -= 1
            return state.line.removeFirst()
        }
    }
}
