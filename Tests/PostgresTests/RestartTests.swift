import Postgres
import Synchronization
import TestKit
import Testing

extension PostgresRoom {
    @Suite struct RestartTests {
        private static let own = Result { try PostgresCluster() }

        private func isServed(_ pool: Pool) async -> Bool {
            let count = try? await lend(pool) { connection throws(PostgresError) in try connection.execute("SELECT 1") }
            return count == 1
        }

        private func fills(_ pool: Pool) async throws {
            let isFull = try await eventually { pool.figures.connected == pool.figures.lanes }
            #expect(isFull, "\(pool.figures)")
        }

        @Test(arguments: [PostgresCluster.StopMode.fast, .immediate])
        func `service returns by itself after the server was away`(_ mode: PostgresCluster.StopMode) async throws {
            let cluster = try await aside { try Self.own.get() }
            try await withPool(lanes: 3, on: cluster) { pool, _ in
                try await fills(pool)
                try await aside { try cluster.stop(mode) }
                let isGone = try await eventually { pool.figures.connected == 0 }
                #expect(isGone)
                let error = await #expect(throws: PostgresError.self) { try await pool.lend { _ in 1 } }
                if case .unavailable = error {} else { Issue.record("\(String(describing: error))") }
                try await aside { try cluster.start() }
                let isBack = try await eventually { await isServed(pool) }
                #expect(isBack)
                try await fills(pool)
            }
        }

        @Test func `a statement under way when the server dies ends as a lost connection`() async throws {
            let cluster = try await aside { try Self.own.get() }
            try await withPool(lanes: 2, on: cluster, adjust: { $0.statementTimeout = 0 }) { pool, _ in
                let started = Gate()
                let sleeper = Task {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.begin()
                        try connection.execute("SELECT 1")
                        started.open()
                        try connection.execute("SELECT pg_sleep(60)")
                    }
                }
                try await pool.lend { _ in started.wait() }
                try await aside { try cluster.stop(.immediate) }
                await #expect(throws: PostgresError.connectionLost) { try await sleeper.value }
                try await aside { try cluster.start() }
                let isBack = try await eventually { await isServed(pool) }
                #expect(isBack)
            }
        }

        @Test func `calls under a restart succeed, or fail with an error that says so`() async throws {
            let cluster = try await aside { try Self.own.get() }
            try await withPool(lanes: 4, on: cluster) { pool, _ in
                try await fills(pool)
                let unexpected = try await withThrowingTaskGroup(of: [PostgresError].self) { group in
                    for _ in 0..<8 {
                        group.addTask { await Self.keepAsking(pool) }
                    }
                    try await aside { try cluster.restart(.fast) }
                    group.cancelAll()
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(unexpected == [])
                let isBack = try await eventually { await isServed(pool) }
                #expect(isBack)
            }
        }

        private static func keepAsking(_ pool: Pool) async -> [PostgresError] {
            var unexpected: [PostgresError] = []
            while !Task.isCancelled {
                do throws(PostgresError) {
                    try await lend(pool) { connection throws(PostgresError) in
                        defer { connection.rollback() }
                        try connection.begin()
                        try connection.execute("SELECT 1")
                        try connection.commit()
                    }
                } catch {
                    switch error {
                    case .connectionLost, .commitUnknown, .unavailable, .cancelled: break
                    default: unexpected.append(error)
                    }
                }
            }
            return unexpected
        }

        @Test func `a listener hears again after the server was away`() async throws {
            let cluster = try await aside { try Self.own.get() }
            let name = try await aside { try cluster.createDatabase() }
            let heard = Heard()
            let listener = Listener(
                conninfo: cluster.conninfo(database: name, role: .owner), channel: "bell", onNotify: heard.note,
                onReconnect: heard.noteConnection)
            listener.start()
            let isReady = try await eventually { heard.connections == 1 }
            #expect(isReady)
            try await aside { try cluster.restart(.immediate) }
            let isBack = try await eventually { heard.connections >= 2 }
            #expect(isBack)
            try await aside { _ = try cluster.psql("NOTIFY bell, 'again'", database: name) }
            let hasHeard = try await eventually { heard.payloads == ["again"] }
            #expect(hasHeard)
            listener.stop()
        }
    }
}

final class Heard: Sendable {
    private let state = Mutex<(payloads: [String], connections: Int)>(([], 0))

    var payloads: [String] { state.withLock { $0.payloads } }
    var connections: Int { state.withLock { $0.connections } }

    func note(_ payload: String) { state.withLock { $0.payloads.append(payload) } }

    func noteConnection() { state.withLock { $0.connections += 1 } }
}
