import Postgres
import Synchronization
import TestKit
import Testing

extension PostgresRoom {
    /// The line in front of a pool's lanes.
    @Suite struct LineTests {
        private func occupy(_ pool: Pool, until gate: Gate) async throws -> Task<Void, any Error> {
            let occupied = Task { try await pool.lend { _ in gate.wait() } }
            let isLeased = try await eventually { pool.figures.leased == 1 && pool.figures.waiting == 0 }
            #expect(isLeased)
            return occupied
        }

        private func wait(for count: Int, in pool: Pool) async throws {
            let isThere = try await eventually { pool.figures.waiting == count }
            #expect(isThere)
        }

        @Test func `a line that would take too long turns away whoever arrives, and nobody who is under way`()
            async throws
        {
            try await withPool(lanes: 1, adjust: { $0.longestLine = .milliseconds(30) }) { pool, _ in
                // From these the pool knows what work takes here.
                for _ in 0..<2 {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("SELECT pg_sleep(0.05)")
                    }
                }
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let first = Task { try await pool.lend { _ in 1 } }
                try await wait(for: 1, in: pool)
                let start = ContinuousClock.now
                await #expect(throws: PostgresError.saturated) { try await pool.lend { _ in 2 } }
                let refusedAfter = ContinuousClock.now - start
                let second = Task { try await pool.lend(.underWay) { _ in 3 } }
                try await wait(for: 2, in: pool)
                #expect(pool.figures.turnedAway == 1)
                gate.open()
                #expect(try await first.value == 1)
                #expect(try await second.value == 3)
                try await occupied.value
                #expect(refusedAfter < .seconds(5), "not after the time that a call may wait")
                #expect(pool.figures.waitedFor > 0)
            }
        }

        @Test func `a line that does not move turns away whoever arrives, although nobody knows what work takes`()
            async throws
        {
            try await withPool(lanes: 1, adjust: { $0.longestLine = .milliseconds(30) }) { pool, _ in
                let isConnected = try await eventually { pool.figures.connected == 1 }
                #expect(isConnected)
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let start = ContinuousClock.now
                let first = Task { try await pool.lend { _ in 1 } }
                try await wait(for: 1, in: pool)
                let isTime = try await eventually { ContinuousClock.now - start > .milliseconds(60) }
                #expect(isTime)
                await #expect(throws: PostgresError.saturated) { try await pool.lend { _ in 2 } }
                gate.open()
                #expect(try await first.value == 1)
                try await occupied.value
                #expect(try await pool.lend { _ in 4 } == 4)
            }
        }

        @Test func `what is under way goes before whoever arrives`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let isConnected = try await eventually { pool.figures.connected == 1 }
                #expect(isConnected)
                let occupied = try await occupy(pool, until: gate)
                var tasks: [Task<Void, any Error>] = []
                let line: [Precedence] = [.arriving, .arriving, .underWay, .underWay]
                let noted = Noted()
                for (number, precedence) in line.enumerated() {
                    tasks.append(Task { try await pool.lend(precedence) { _ in noted.add(number) } })
                    try await wait(for: number + 1, in: pool)
                }
                gate.open()
                for task in [occupied] + tasks { try await task.value }
                #expect(noted.all == [2, 3, 0, 1])
            }
        }
    }
}

private final class Noted: Sendable {
    private let list = Mutex<[Int]>([])

    var all: [Int] { list.withLock { $0 } }

    func add(_ number: Int) { list.withLock { $0.append(number) } }
}
