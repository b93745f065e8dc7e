import Lanes
import Store
import Synchronization

/// Carries bells from whoever rings to the streams they concern, on a thread of its own.
///
/// Whoever committed a change need not wait until thousands of streams have been told. The same bell rung again before
/// it was carried is carried once.
final class BellRoom: Sendable {
    private struct State {
        var rung: Set<Doorbell> = []
        var order: [Doorbell] = []
        var isScheduled = false
    }

    private let registry: Registry
    private let lane = Lane(name: "updates")
    private let state = Mutex(State())

    init(registry: Registry) { self.registry = registry }

    func ring(_ doorbell: Doorbell) {
        let mustSchedule = state.withLock { state in
            guard state.rung.insert(doorbell).inserted else { return false }
            state.order.append(doorbell)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { lane.post { [self] in carry() } }
    }

    private func carry() {
        while true {
            let bells = state.withLock { state in
                let bells = state.order
                state.order = []
                state.rung = []
                state.isScheduled = !bells.isEmpty
                return bells
            }
            guard !bells.isEmpty else { return }
            for bell in bells {
                for stream in registry.streams(for: bell) { stream.hear(bell) }
            }
        }
    }
}
