import Domain
import Synchronization

/// Whose mailboxes somebody else held lately: messages to them go by themselves, so that no others wait with them.
final class HeldHouseholds: Sendable {
    private static let memory = Duration.seconds(5)
    private static let limit = 10_000

    private let until = Mutex<[Household: ContinuousClock.Instant]>([:])

    func add(_ draft: Draft) {
        let now = ContinuousClock.now
        until.withLock { until in
            if until.count >= Self.limit { until = until.filter { $0.value > now } }
            guard until.count < Self.limit else { return }
            for household in draft.households { until[household] = now + Self.memory }
        }
    }

    func remove(_ draft: Draft) {
        until.withLock { until in
            guard !until.isEmpty else { return }
            for household in draft.households { until[household] = nil }
        }
    }

    func contains(_ draft: Draft) -> Bool {
        until.withLock { Self.contains(draft, $0, ContinuousClock.now) }
    }

    func split(_ batch: [SendQueue.Ticket]) -> (stuck: [SendQueue.Ticket], free: [SendQueue.Ticket]) {
        until.withLock { until in
            guard !until.isEmpty else { return ([], batch) }
            let now = ContinuousClock.now
            until = until.filter { $0.value > now }
            let held = batch.split(by: { Self.contains($0.draft, until, now) })
            return (stuck: held.yes, free: held.no)
        }
    }

    private static func contains(
        _ draft: Draft, _ until: [Household: ContinuousClock.Instant], _ now: ContinuousClock.Instant
    ) -> Bool {
        draft.households.contains { household in until[household].map { $0 > now } ?? false }
    }
}

extension Draft {
    /// Each recipient once.
    var households: [Household] { recipients.map { Household(account: $0.account, app: app) } }
}
