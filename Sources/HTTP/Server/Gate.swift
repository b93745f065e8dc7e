import Synchronization

/// What may still begin, and how much is under way; read and written on every request without a lock.
final class Gate: Sendable {
    /// Suspended connections, plus `closed` once none may be added: the library must not be stopped before it is zero.
    private let word = Atomic<Int>(0)
    private static let closed = 1 << 48

    private let draining = Atomic<Bool>(false)
    private let inFlight = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    /// Raised when a count falls while the server drains.
    let changed = Signal()

    var isDraining: Bool { draining.load(ordering: .acquiring) }
    var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }
    var requestsTotal: Int { total.load(ordering: .relaxed) }
    var refusedTotal: Int { refused.load(ordering: .relaxed) }
    var suspended: Int { word.load(ordering: .acquiring) & (Gate.closed - 1) }

    func startDraining() {
        draining.store(true, ordering: .releasing)
    }

    /// From now on no connection may be suspended.
    func close() {
        word.bitwiseOr(Gate.closed, ordering: .acquiringAndReleasing)
    }

    func beginRequest() {
        inFlight.add(1, ordering: .relaxed)
        total.add(1, ordering: .relaxed)
    }

    func endRequest() {
        inFlight.subtract(1, ordering: .relaxed)
        if isDraining { changed.raise() }
    }

    func countRefusal() {
        refused.add(1, ordering: .relaxed)
    }

    /// Reserves the right to suspend; false when the server is about to stop.
    func enterSuspension() -> Bool {
        guard word.add(1, ordering: .acquiringAndReleasing).newValue & Gate.closed != 0 else { return true }
        leaveSuspension()
        return false
    }

    func leaveSuspension() {
        word.subtract(1, ordering: .acquiringAndReleasing)
        if isDraining { changed.raise() }
    }
}
