import Postgres
import TestKit
import Testing

extension PostgresRoom {
    @Suite struct ListenerTests {
        private func withListener(
            channel: String, _ body: (Listener, Heard, Pool, PostgresCluster) async throws -> Void
        ) async throws {
            try await withPool(lanes: 1) { pool, cluster in
                let name = try await lend(pool) { connection throws(PostgresError) in
                    try connection.first("SELECT current_database()") { row throws(PostgresError) -> String in
                        try row[0]
                    }
                }
                let heard = Heard()
                let listener = Listener(
                    conninfo: cluster.conninfo(database: try #require(name)), channel: channel, onNotify: heard.note,
                    onReconnect: heard.noteConnection)
                listener.start()
                let isReady = try await eventually { heard.connections == 1 }
                #expect(isReady)
                #expect(listener.isListening)
                try await body(listener, heard, pool, cluster)
                listener.stop()
                #expect(!listener.isListening)
            }
        }

        @Test(arguments: ["bell", "a \"quoted\"; channel"])
        func `notifications arrive in order on any channel name`(_ channel: String) async throws {
            try await withListener(channel: channel) { _, heard, pool, _ in
                let payloads = (0..<50).map { "ring \($0) ü" }
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.batch(payloads.map { "SELECT pg_notify(\(channel), \($0))" })
                    try connection.execute("SELECT pg_notify('another', 'unheard')")
                }
                let hasHeard = try await eventually { heard.payloads.count == payloads.count }
                #expect(hasHeard)
                #expect(heard.payloads == payloads)
            }
        }

        @Test func `a listener whose connection ends listens again and says so`() async throws {
            try await withListener(channel: "bell") { _, heard, pool, cluster in
                let name = try await database(pool)
                try await aside {
                    _ = try cluster.psql(
                        """
                        SELECT pg_terminate_backend(pid, 50000) FROM pg_stat_activity
                        WHERE query LIKE 'LISTEN%bell%' AND datname = '\(name)'
                        """)
                }
                let isBack = try await eventually { heard.connections == 2 }
                #expect(isBack)
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("SELECT pg_notify('bell', 'again')")
                }
                let hasHeard = try await eventually { heard.payloads == ["again"] }
                #expect(hasHeard)
            }
        }

        @Test func `a listener without a server can be stopped`() async throws {
            let heard = Heard()
            let listener = Listener(
                conninfo: "host=/nonexistent", channel: "bell", onNotify: heard.note, onReconnect: heard.noteConnection)
            listener.start()
            listener.stop()
            #expect(heard.connections == 0)
        }

        private func database(_ pool: Pool) async throws -> String {
            let name = try await lend(pool) { connection throws(PostgresError) in
                try connection.first("SELECT current_database()") { row throws(PostgresError) -> String in try row[0] }
            }
            return try #require(name)
        }
    }
}
