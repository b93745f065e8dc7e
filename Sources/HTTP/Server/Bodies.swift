import Synchronization

/// How many bytes of request bodies all connections together may hold.
///
/// A body counts as it arrives, not as it is announced: announcing much and sending nothing takes no room from others.
final class Bodies: Sendable {
    private let bound: Int
    private let held = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    init(bound: Int) {
        self.bound = bound
    }

    var bytes: Int { held.load(ordering: .relaxed) }
    var refusedTotal: Int { refused.load(ordering: .relaxed) }
    var isFull: Bool { bytes >= bound }

    func countRefusal() {
        refused.add(1, ordering: .relaxed)
    }

    /// Makes room for so many bytes, or says that there is none.
    func take(_ count: Int) -> Bool {
        guard held.add(count, ordering: .relaxed).newValue > bound else { return true }
        give(count)
        return false
    }

    func give(_ count: Int) {
        held.subtract(count, ordering: .relaxed)
    }
}
