import Glibc
import Lanes
import Synchronization

/// The thread that cuts off clients that are too slow, and reads what closed connections still bring.
///
/// The library's own timeout only measures inactivity: one byte now and then keeps a connection for ever.
final class Sweeper: Sendable {
    private let connections: Connections
    private let interval: Int32
    private let stopping = Atomic<Bool>(false)
    private let lingerer: Lingerer
    private let thread = Mutex<Thread?>(nil)

    /// Sweeps a few times within the shortest of the timeouts.
    init(connections: Connections, lingerer: Lingerer, shortest: Duration) {
        self.connections = connections
        self.lingerer = lingerer
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
        lingerer.arrived.raise()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
        lingerer.end()
    }

    private func run() {
        while !stopping.load(ordering: .acquiring) {
            lingerer.arrived.wait(milliseconds: lingerer.isIdle ? interval : 20)
            connections.cutLate(Monotonic.now())
            lingerer.sweep(Monotonic.now())
        }
    }
}
