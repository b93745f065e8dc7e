import Domain
import Postgres
import Store
import Synchronization

/// Puts entries in order, on one node at a time: within a tenth of a second of their bell, or else within half a second.
final class Sequencer: Service {
    private static let tick = Duration.milliseconds(100)
    /// Bells may be lost, so that without one it looks all the same.
    private static let ticksWithoutBell = 5
    private static let ticksBetweenFigures = 50
    private static let batch = 5_000

    private final class Flag: Sendable {
        let isRaised = Atomic(false)
    }

    private let database: Database
    private let observe: Observe
    private let bell = Flag()
    private let latest = Mutex(Audit.Figures())
    private let isFaltering = Atomic(false)

    init(database: Database, observe: @escaping Observe) {
        self.database = database
        self.observe = observe
        database.bell.listen { [bell] doorbell, _ in
            if case .audit = doorbell { bell.isRaised.store(true, ordering: .releasing) }
        }
    }

    var figures: Audit.Figures { latest.withLock { $0 } }

    func run() async {
        var ticks = 0
        while !Task.isCancelled {
            let isRung = bell.isRaised.exchange(false, ordering: .acquiring)
            if isRung || ticks % Self.ticksWithoutBell == 0 { await attempt(sequenceAll) }
            if ticks % Self.ticksBetweenFigures == 0 { await attempt(count) }
            ticks += 1
            try? await Task.sleep(for: Self.tick)
        }
    }

    private func sequenceAll() async throws(Failure) {
        var taken = Self.batch
        while taken == Self.batch, !Task.isCancelled {
            taken = try await database.transaction(.underWay) { (tx) throws(Failure) in
                try tx.take(.sequenceAudit) ? try tx.sequence(atMost: Self.batch) : 0
            }
            if taken > 0 { observe(.sequenced(entries: taken)) }
        }
    }

    private func count() async throws(Failure) {
        let figures = try await database.read { (tx) throws(Failure) in try tx.auditFigures() }
        latest.withLock { $0 = figures }
    }

    /// A failure is told once, and its end too.
    private func attempt(_ work: () async throws(Failure) -> Void) async {
        do throws(Failure) {
            try await work()
            if isFaltering.exchange(false, ordering: .relaxed) { observe(.recovered(task: "audit sequencer")) }
        } catch {
            guard !isFaltering.exchange(true, ordering: .relaxed) else { return }
            observe(.faltered(task: "audit sequencer", cause: error.cause))
        }
    }
}
