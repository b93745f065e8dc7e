import API
import Lanes
import Store
import Synchronization

/// Carries bells from whoever rings to the streams they concern.
///
/// A mailbox has a handful of streams, which whoever rings tells at once. Other bells may concern thousands: those are
/// carried on a thread of their own, so that nobody waits for it; the same bell rung again before it was carried is
/// carried once.
final class BellRoom: Sendable {
    private struct State {
        var rung: [Doorbell: Bell.Origin] = [:]
        var order: [Doorbell] = []
        var isScheduled = false
    }

    private let registry: Registry
    private let sources: [any UpdateSource]
    private let lane = Lane(name: "updates")
    private let state = Mutex(State())

    init(registry: Registry, sources: [any UpdateSource]) {
        self.registry = registry
        self.sources = sources
    }

    func ring(_ doorbell: Doorbell, from origin: Bell.Origin) {
        switch doorbell {
        case .mailbox: tell(doorbell, origin)
        case .configuration where registry.hasStreams(for: doorbell):
            Task {
                for source in sources { await source.prepare(for: doorbell) }
                carry(doorbell, origin)
            }
        case .configuration: break
        case .devices, .sessionEnded, .audit: carry(doorbell, origin)
        }
    }

    private func carry(_ doorbell: Doorbell, _ origin: Bell.Origin) {
        let mustSchedule = state.withLock { state in
            if let other = state.rung[doorbell] {
                if other == .here { state.rung[doorbell] = origin }
                return false
            }
            state.rung[doorbell] = origin
            state.order.append(doorbell)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { lane.post { [self] in carryAll() } }
    }

    private func carryAll() {
        while true {
            let bells = state.withLock { state in
                let bells = state.order.map { ($0, state.rung[$0] ?? .elsewhere) }
                state.order = []
                state.rung = [:]
                state.isScheduled = !bells.isEmpty
                return bells
            }
            guard !bells.isEmpty else { return }
            for (bell, origin) in bells { tell(bell, origin) }
        }
    }

    private func tell(_ doorbell: Doorbell, _ origin: Bell.Origin) {
        for stream in registry.streams(for: doorbell) { stream.hear(doorbell, from: origin) }
    }
}
