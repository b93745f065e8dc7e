import Testing

@testable import Postgres

@Suite struct PoolStateTests {
    private static let now = ContinuousClock.now

    /// A pool whose lanes are connected and idle.
    private func state(lanes: Int) -> PoolState {
        var state = PoolState(lanes: lanes, maximumWaiting: 100, longestLine: .seconds(1))
        for lane in 0..<lanes {
            state.noteConnected(lane)
            #expect(state.next(for: lane, after: nil)?.count == nil)
        }
        return state
    }

    @Test func `of a pool that stops, a call that no lane has begun is given back to be refused`() {
        var state = state(lanes: 2)
        let call = Waiter(at: Self.now)
        guard case .handed(let lane) = state.place(call as any Call) else {
            Issue.record("an idle lane gets it")
            return
        }
        #expect(state.stop().isEmpty)
        let lost = state.noteLost(lane)
        #expect(lost.wakes == nil)
        #expect(lost.refused === call)
    }

    @Test func `a question is never turned away while a lane is idle, however long another has stood in line`() {
        var state = state(lanes: 2)
        #expect(state.place(Waiter(at: Self.now) as any Question).isHanded)
        // Held up: the lane is with the first and does not come back.
        let first = state.next(for: 1, after: nil)
        #expect(first?.count == 1)
        #expect(!state.place(Waiter(at: Self.now + .milliseconds(1)) as any Question).isHanded)
        #expect(state.place(Waiter(at: Self.now + .seconds(3)) as any Question).isHanded)
        #expect(state.next(for: 0, after: nil)?.count == 2)
        #expect(state.turnedAway == 0)
    }

    @Test func `a lane is woken for a question that nobody comes for, without another being asked`() {
        var state = state(lanes: 2)
        #expect(state.place(Waiter(at: Self.now) as any Question).isHanded)
        _ = state.next(for: 1, after: nil)
        let placed = state.place(Waiter(at: Self.now + .milliseconds(1)) as any Question)
        guard case .queued(wakesKeeper: true) = placed else {
            Issue.record("the keeper is told: \(placed)")
            return
        }
        let early = state.look(at: Self.now + .milliseconds(5), keepsUntil: nil)
        #expect(early.wakes == nil)
        #expect(early.next.map { $0 <= Self.now + .milliseconds(30) } == true)
        #expect(state.look(at: Self.now + .milliseconds(30), keepsUntil: nil).wakes == 0)
        #expect(state.next(for: 0, after: nil)?.count == 1)
    }
}

extension PoolState.Placement {
    fileprivate var isHanded: Bool {
        if case .handed = self { true } else { false }
    }
}

/// Somebody in line whom nobody answers.
private final class Waiter: Question {
    let number: UInt64 = 0
    let precedence = Precedence.arriving
    let enteredAt: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    let sql: SQL = "SELECT 1"

    init(at instant: ContinuousClock.Instant) {
        enteredAt = instant
        deadline = instant + .seconds(5)
    }

    func run(on session: Session) {}
    func refuse(_ error: PostgresError) {}
    func take(_ answer: Answer) {}
}
