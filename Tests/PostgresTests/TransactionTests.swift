import Postgres
import TestKit
import Testing

extension PostgresRoom {
    @Suite struct TransactionTests {
        private func withCounter(
            lanes: Int = 2, adjust: (inout Pool.Settings) -> Void = { _ in }, _ body: (Pool) async throws -> Void
        ) async throws {
            try await withPool(lanes: lanes, adjust: adjust) { pool, _ in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.script(
                        "CREATE TABLE counter (id int8 PRIMARY KEY, n int8 NOT NULL); INSERT INTO counter VALUES (1, 0), (2, 0)"
                    )
                }
                try await body(pool)
            }
        }

        private func total(_ pool: Pool) async throws -> Int? {
            try await lend(pool) { connection throws(PostgresError) in
                try connection.first("SELECT sum(n)::int8 FROM counter") { row throws(PostgresError) -> Int in
                    try row[0]
                }
            }
        }

        @Test func `what is committed stays, what is rolled back goes`() async throws {
            try await withCounter { pool in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.begin()
                    try connection.execute("UPDATE counter SET n = n + \(1) WHERE id = \(1)")
                    try connection.commit()
                    try connection.begin()
                    try connection.execute("UPDATE counter SET n = n + \(10) WHERE id = \(1)")
                    connection.rollback()
                }
                let sum = try await total(pool)
                #expect(sum == 1)
            }
        }

        @Test func `the last writes and the commit can share one round trip`() async throws {
            try await withCounter { pool in
                let counts = try await lend(pool) { connection throws(PostgresError) in
                    try connection.begin()
                    let counts = try connection.batchAndCommit([
                        "UPDATE counter SET n = n + \(1)", "UPDATE counter SET n = n + \(1) WHERE id = \(1)",
                    ])
                    return connection.isInTransaction ? [] : counts
                }
                #expect(counts == [2, 1])
                let sum = try await total(pool)
                #expect(sum == 3)
            }
        }

        @Test func `an error before a commit in the same round trip commits nothing`() async throws {
            try await withCounter { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        defer { connection.rollback() }
                        try connection.begin()
                        try connection.batchAndCommit([
                            "UPDATE counter SET n = n + \(1)", "INSERT INTO counter VALUES (\(1), \(1))",
                        ])
                    }
                }
                #expect(error?.isUniqueViolation("counter_pkey") == true)
                let sum = try await total(pool)
                #expect(sum == 0)
            }
        }

        @Test func `a transaction without statements ends without asking the server`() async throws {
            try await withCounter { pool in
                let states = try await lend(pool) { connection throws(PostgresError) in
                    try connection.begin()
                    let before = connection.isInTransaction
                    try connection.commit()
                    let after = connection.isInTransaction
                    try connection.begin()
                    connection.rollback()
                    return [before, after, connection.isInTransaction]
                }
                #expect(states == [true, false, false])
            }
        }

        @Test func `an error of the first statement leaves a transaction that only rollback ends`() async throws {
            try await withCounter { pool in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.begin()
                    let first = failure(of: "SELECT nothing FROM counter", on: connection)
                    #expect(first?.sqlstate == "42703")
                    let second = failure(of: "UPDATE counter SET n = 5", on: connection)
                    #expect(second?.sqlstate == "25P02")
                    connection.rollback()
                    try connection.execute("UPDATE counter SET n = \(3) WHERE id = \(2)")
                }
                let sum = try await total(pool)
                #expect(sum == 3)
            }
        }

        @Test func `commit after a failed statement is refused and commits nothing`() async throws {
            try await withCounter { pool in
                await #expect(throws: PostgresError.misuse("commit after a statement failed")) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.begin()
                        try connection.execute("UPDATE counter SET n = 9")
                        do throws(PostgresError) { try connection.execute("SELECT 1/0") } catch {}
                        try connection.commit()
                    }
                }
                let sum = try await total(pool)
                #expect(sum == 0)
            }
        }

        @Test func `begin inside and commit outside a transaction are refused`() async throws {
            try await withCounter { pool in
                await #expect(throws: PostgresError.misuse("begin inside a transaction")) {
                    try await lend(pool) { connection throws(PostgresError) in
                        defer { connection.rollback() }
                        try connection.begin()
                        try connection.begin()
                    }
                }
                await #expect(throws: PostgresError.misuse("commit outside a transaction")) {
                    try await lend(pool) { connection throws(PostgresError) in try connection.commit() }
                }
            }
        }

        @Test func `a transaction left open is rolled back and its closure does not pass for a success`() async throws {
            try await withCounter(lanes: 1) { pool in
                await #expect(throws: PostgresError.misuse("the closure left a transaction open")) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.begin()
                        try connection.execute("UPDATE counter SET n = 7")
                    }
                }
                let sum = try await total(pool)
                #expect(sum == 0)
            }
        }

        @Test func `a write in a read-only transaction is the program's fault and costs no connection`() async throws {
            try await withCounter(lanes: 1) { pool in
                let generations = try await lend(pool) { connection throws(PostgresError) in
                    try connection.begin(.readOnly, isolation: .repeatableRead)
                    let error = failure(of: "UPDATE counter SET n = 7", on: connection)
                    #expect(error?.sqlstate == "25006")
                    connection.rollback()
                    return connection.generation
                }
                let later = try await lend(pool) { connection throws(PostgresError) in connection.generation }
                #expect(generations == later)
            }
        }

        @Test func `a server that became read-only costs the connection`() async throws {
            try await withCounter(lanes: 1) { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("SET default_transaction_read_only = on")
                        try connection.execute("UPDATE counter SET n = 7")
                    }
                }
                #expect(error == .connectionLost)
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("UPDATE counter SET n = 1")
                }
                let sum = try await total(pool)
                #expect(sum == 2)
            }
        }

        @Test func `of two deadlocked transactions one is told to try again`() async throws {
            try await withCounter { pool in
                let gates = (Gate(), Gate())
                async let first = attempt(pool, order: (1, 2), opens: gates.0, awaits: gates.1)
                async let second = attempt(pool, order: (2, 1), opens: gates.1, awaits: gates.0)
                let errors = await [first, second].compactMap(\.self)
                #expect(errors.map(\.sqlstate) == ["40P01"])
                #expect(errors.map(\.isRetryable) == [true])
                let sum = try await total(pool)
                #expect(sum == 2)
            }
        }

        private func attempt(_ pool: Pool, order: (Int, Int), opens: Gate, awaits: Gate) async -> PostgresError? {
            do throws(PostgresError) {
                try await lend(pool) { connection throws(PostgresError) in
                    defer { connection.rollback() }
                    try connection.begin()
                    try connection.execute("UPDATE counter SET n = n + 1 WHERE id = \(order.0)")
                    opens.open()
                    awaits.wait()
                    try connection.execute("UPDATE counter SET n = n + 1 WHERE id = \(order.1)")
                    try connection.commit()
                }
                return nil
            } catch {
                return error
            }
        }

        @Test func `a serialisation failure is retryable`() async throws {
            try await withCounter { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        defer { connection.rollback() }
                        try connection.begin(isolation: .repeatableRead)
                        try connection.execute("TABLE counter")
                        let gate = Gate()
                        Task {
                            try await lend(pool) { other throws(PostgresError) in
                                try other.execute("UPDATE counter SET n = n + 1")
                            }
                            gate.open()
                        }
                        gate.wait()
                        try connection.execute("UPDATE counter SET n = n + 1")
                        try connection.commit()
                    }
                }
                #expect(error?.sqlstate == "40001")
                #expect(error?.isRetryable == true)
            }
        }

        @Test func `a statement that takes too long ends as a timeout`() async throws {
            try await withCounter(lanes: 1, adjust: { $0.statementTimeout = 50 }) { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("SELECT pg_sleep(20)")
                    }
                }
                #expect(error?.isTimeout == true)
                let sum = try await total(pool)
                #expect(sum == 0)
            }
        }

        @Test func `a lock that takes too long ends as a timeout`() async throws {
            try await withCounter(adjust: { $0.lockTimeout = 50 }) { pool in
                let (locked, release) = (Gate(), Gate())
                async let holder: Void = lend(pool) { connection throws(PostgresError) in
                    try connection.begin()
                    try connection.execute("SELECT n FROM counter WHERE id = 1 FOR UPDATE")
                    locked.open()
                    release.wait()
                    connection.rollback()
                }
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        locked.wait()
                        try connection.execute("UPDATE counter SET n = 1 WHERE id = 1")
                    }
                }
                release.open()
                try await holder
                #expect(error?.sqlstate == "55P03")
                #expect(error?.isTimeout == true)
            }
        }

        @Test func `a connection that ends during commit leaves the outcome unknown`() async throws {
            try await withCounter(
                adjust: {
                    $0.lockTimeout = 0
                    $0.statementTimeout = 0
                }
            ) { pool in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.script(
                        """
                        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                            $$ BEGIN PERFORM pg_advisory_lock_shared(1); RETURN NULL; END $$;
                        CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON counter
                            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow();
                        """)
                }
                let (held, committing) = (Gate(), Gate())
                async let killer: Void = lend(pool) { connection throws(PostgresError) in
                    try connection.execute("SELECT pg_advisory_lock(1)")
                    held.open()
                    committing.wait()
                    try connection.execute("SELECT pg_advisory_unlock_all()")
                }
                async let committer = commitUpdate(pool, after: held)
                // A third connection, because the other two are busy until one of them is gone.
                try await endWaiter(of: pool)
                let error = await committer
                #expect(error == .commitUnknown)
                committing.open()
                try await killer
            }
        }

        private func commitUpdate(_ pool: Pool, after gate: Gate) async -> PostgresError? {
            do throws(PostgresError) {
                try await lend(pool) { connection throws(PostgresError) in
                    gate.wait()
                    try connection.begin()
                    try connection.execute("UPDATE counter SET n = 1 WHERE id = 1")
                    try connection.commit()
                }
                return nil
            } catch {
                return error
            }
        }

        private func endWaiter(of pool: Pool) async throws {
            let isEnded = try await eventually {
                try await aside {
                    let ended = try PostgresCluster.shared.psql(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                        WHERE wait_event = 'advisory' AND query = 'COMMIT'
                        """)
                    return ended.hasPrefix("1")
                }
            }
            #expect(isEnded)
        }
    }
}
