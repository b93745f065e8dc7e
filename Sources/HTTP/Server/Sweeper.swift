import Glibc
import Lanes
import Synchronization

/// The thread that cuts off clients that are too slow.
///
/// The library's own timeout only measures inactivity: one byte now and then keeps a connection for ever.
final class Sweeper: Sendable {
    private let connections: Connections
    private let interval: Int32
    private let stopping = Atomic<Bool>(false)
    private let signal = Signal()
    private let thread = Mutex<Thread?>(nil)

    /// Sweeps a few times within the shortest of the timeouts.
    init(connections: Connections, shortest: Duration) {
        self.connections = connections
        interval = Int32(clamping: min(max(Monotonic.nanoseconds(shortest) / 8_000_000, 10), 1000))
    }

    func start() throws(ServerFault) {
        guard let started = Thread(named: "http-deadlines", { self.run() }) else {
            throw .system(call: "pthread_create", code: EAGAIN)
        }
        thread.withLock { $0 = started }
    }

    func stop() {
        stopping.store(true, ordering: .releasing)
        signal.raise()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }

    private func run() {
        while !stopping.load(ordering: .acquiring) {
            signal.wait(milliseconds: interval)
            connections.cutLate(Monotonic.now())
        }
    }
}
