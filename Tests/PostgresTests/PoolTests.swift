import Postgres
import Synchronization
import TestKit
import Testing

extension PostgresRoom {
    @Suite struct PoolTests {
        /// Holds the only lane of a pool until the gate opens.
        private func occupy(_ pool: Pool, until gate: Gate) async throws -> Task<Void, any Error> {
            let isConnected = try await eventually { pool.figures.connected == 1 }
            #expect(isConnected)
            // A lane that has just connected counts as leased too: only what runs on it can tell.
            let begun = Order()
            let occupied = Task {
                try await pool.lend { _ in
                    begun.append(0)
                    gate.wait()
                }
            }
            let hasBegun = try await eventually { begun.numbers == [0] }
            #expect(hasBegun)
            return occupied
        }

        private func backend(_ pool: Pool) async throws -> (process: Int, generation: Int) {
            try await lend(pool) { connection throws(PostgresError) in
                let process = try connection.first("SELECT pg_backend_pid()") { row throws(PostgresError) -> Int in
                    try row[0]
                }
                return (process ?? 0, connection.generation)
            }
        }

        /// However slow the machine is, nobody is to be turned away.
        private static func isPatient(_ settings: inout Pool.Settings) {
            settings.longestLine = .seconds(60)
            settings.waitFor = .seconds(60)
        }

        @Test func `four lanes serve two hundred calls, each exactly once`() async throws {
            try await withPool(lanes: 4, adjust: Self.isPatient) { pool, _ in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.script("CREATE TABLE call (n int8 PRIMARY KEY)")
                }
                let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            try await lend(pool) { connection throws(PostgresError) in
                                try connection.begin()
                                try connection.execute("INSERT INTO call VALUES (\(number))")
                                try connection.commit()
                                return number
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.sorted() == Array(0..<200))
                let stored = try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("SELECT n FROM call")
                }
                #expect(stored == 200)
                #expect(pool.figures.waiting == 0)
            }
        }

        @Test func `two hundred questions are each answered, few of them alone`() async throws {
            try await withPool(lanes: 2, adjust: Self.isPatient) { pool, _ in
                let answers = try await withThrowingTaskGroup(of: (Int, [Int]).self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let rows = try await pool.ask("SELECT n FROM generate_series(1, \(number % 7)) n") {
                                row throws(PostgresError) -> Int in try row[0]
                            }
                            return (number, rows)
                        }
                    }
                    return try await group.reduce(into: [Int: [Int]]()) { $0[$1.0] = $1.1 }
                }
                #expect(answers.count == 200)
                #expect(answers.allSatisfy { number, rows in rows == Array(1...7).filter { $0 <= number % 7 } })
                #expect(pool.figures.served >= 200)
                #expect(pool.figures.waiting == 0)
            }
        }

        @Test func `a question that fails fails alone, wherever it stands among others`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let tasks = (0..<40).map { number in
                    Task { () throws(PostgresError) -> [Int] in
                        let divisor = number % 5
                        return try await pool.ask("SELECT 12 / \(divisor)") { row throws(PostgresError) in try row[0] }
                    }
                }
                let areWaiting = try await eventually { pool.figures.waiting == 40 }
                #expect(areWaiting)
                gate.open()
                try await occupied.value
                for (number, task) in tasks.enumerated() {
                    let result = await task.result
                    if number % 5 == 0 {
                        #expect(throws: PostgresError.self) { try result.get() }
                    } else {
                        #expect(try result.get() == [12 / (number % 5)])
                    }
                }
            }
        }

        @Test func `questions and calls are both served, whoever came first going first`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let order = Order()
                var tasks: [Task<Void, any Error>] = []
                for number in 0..<12 {
                    tasks.append(
                        Task {
                            if number % 4 == 3 {
                                try await pool.lend { _ in order.append(number) }
                            } else {
                                _ = try await pool.ask("SELECT \(number)") { row throws(PostgresError) in
                                    order.append(try row[0])
                                }
                            }
                        })
                    let isInLine = try await eventually { pool.figures.waiting == number + 1 }
                    #expect(isInLine)
                }
                gate.open()
                try await occupied.value
                for task in tasks { try await task.value }
                let numbers = order.numbers
                #expect(numbers.sorted() == Array(0..<12))
                // Questions travel with those before them, and so may overtake calls; a call overtakes nobody.
                #expect(numbers == [0, 1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 11])
            }
        }

        @Test func `a question does not wait behind one that takes long while a lane is idle`() async throws {
            try await withPool(lanes: 2) { pool, _ in
                let areConnected = try await eventually { pool.figures.connected == 2 }
                #expect(areConnected)
                let order = Order()
                let long = Task {
                    _ = try await pool.ask("SELECT pg_sleep(2)") { _ throws(PostgresError) in order.append(1) }
                }
                let isAsked = try await eventually { pool.figures.leased == 1 && pool.figures.waiting == 0 }
                #expect(isAsked)
                _ = try await pool.ask("SELECT 2") { _ throws(PostgresError) in order.append(2) }
                try await long.value
                #expect(order.numbers == [2, 1])
            }
        }

        @Test func `a question whose connection ends is told so, and the next is answered`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                await #expect(throws: PostgresError.self) {
                    try await pool.ask("SELECT pg_terminate_backend(pg_backend_pid())") { row throws(PostgresError) in
                        try row[0] as Bool
                    }
                }
                let rows = try await pool.ask("SELECT 1") { row throws(PostgresError) in try row[0] as Int }
                #expect(rows == [1])
            }
        }

        @Test func `calls are served in the order of asking`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let order = Order()
                var tasks: [Task<Void, any Error>] = []
                for number in 0..<20 {
                    tasks.append(Task { try await pool.lend { _ in order.append(number) } })
                    let isWaiting = try await eventually { pool.figures.waiting == number + 1 }
                    #expect(isWaiting)
                }
                gate.open()
                for task in [occupied] + tasks { try await task.value }
                #expect(order.numbers == Array(0..<20))
            }
        }

        @Test func `one more than may wait is refused at once`() async throws {
            try await withPool(lanes: 1, adjust: { $0.maximumWaiting = 1 }) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let waiting = Task { try await pool.lend { _ in 7 } }
                let isWaiting = try await eventually { pool.figures.waiting == 1 }
                #expect(isWaiting)
                await #expect(throws: PostgresError.saturated) { try await pool.lend { _ in 8 } }
                gate.open()
                try await occupied.value
                #expect(try await waiting.value == 7)
            }
        }

        @Test func `a wait that lasts too long is refused`() async throws {
            try await withPool(lanes: 1, adjust: { $0.waitFor = .milliseconds(40) }) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                for _ in 0..<3 {
                    let start = ContinuousClock.now
                    await #expect(throws: PostgresError.saturated) { try await pool.lend { _ in 8 } }
                    #expect(ContinuousClock.now - start >= .milliseconds(40))
                }
                #expect(pool.figures.waiting == 0)
                gate.open()
                try await occupied.value
                let isServed = try await eventually { (try? await pool.lend { _ in true }) ?? false }
                #expect(isServed)
            }
        }

        @Test func `cancelling a task takes it out of the line`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let waiting = Task { try await pool.lend { _ in 8 } }
                let isWaiting = try await eventually { pool.figures.waiting == 1 }
                #expect(isWaiting)
                waiting.cancel()
                await #expect(throws: PostgresError.cancelled) { try await waiting.value }
                #expect(pool.figures.waiting == 0)
                gate.open()
                try await occupied.value
            }
        }

        @Test func `a task that is cancelled already does not wait`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let gate = Gate()
                let occupied = try await occupy(pool, until: gate)
                let waiting = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await pool.lend { _ in 8 }
                }
                await #expect(throws: PostgresError.cancelled) { try await waiting.value }
                gate.open()
                try await occupied.value
            }
        }

        @Test func `without a server lending fails at once, naming a reason for operators`() async throws {
            let pool = Pool(Pool.Settings(conninfo: "host=/nonexistent dbname=none user=nobody"))
            pool.start()
            for _ in 0..<3 {
                let error = await #expect(throws: PostgresError.self) { try await pool.lend { _ in 1 } }
                guard case .unavailable(let reason) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(reason.contains("/nonexistent"))
                #expect(error?.description.contains("/nonexistent") == false)
            }
            let figures = pool.figures
            #expect([figures.lanes, figures.connected, figures.leased, figures.waiting] == [8, 0, 0, 0])
            await pool.stop()
        }

        @Test func `a connection string that cannot be read is said to be so`() async throws {
            let pool = Pool(Pool.Settings(conninfo: "host"))
            pool.start()
            await #expect(throws: PostgresError.unavailable(reason: "the connection string cannot be read")) {
                try await pool.lend { _ in 1 }
            }
            await pool.stop()
        }

        @Test func `after stop nothing is lent and nothing stays open`() async throws {
            let cluster = try await aside { try PostgresCluster.shared }
            let name = try await aside { try cluster.createDatabase() }
            let pool = Pool(Pool.Settings(conninfo: cluster.conninfo(database: name, role: .owner)))
            pool.start()
            try await pool.lend { _ in () }
            await pool.stop()
            await pool.stop()
            await #expect(throws: PostgresError.unavailable(reason: "the pool is stopped")) {
                try await pool.lend { _ in 1 }
            }
            let isClosed = try await eventually {
                try await aside {
                    try cluster.psql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'").hasPrefix("0")
                }
            }
            #expect(isClosed)
            try await aside { try cluster.dropDatabase(name) }
        }

        @Test func `stop ends what still runs after its grace`() async throws {
            try await withPool(lanes: 1, adjust: { $0.statementTimeout = 0 }) { pool, cluster in
                let sleeper = Task {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("SELECT pg_sleep(60), 'stop-test'")
                    }
                }
                let isRunning = try await eventually {
                    let text =
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%stop-test%'"
                    return try await aside { try cluster.psql(text).hasPrefix("1") }
                }
                #expect(isRunning)
                await pool.stop(grace: .milliseconds(20))
                await #expect(throws: PostgresError.connectionLost) { try await sleeper.value }
            }
        }

        @Test func `an idle lane notices the end of its connection and makes a new one`() async throws {
            try await withPool(lanes: 1) { pool, cluster in
                let before = try await backend(pool)
                let ended = try await aside {
                    try cluster.psql("SELECT pg_terminate_backend(\(before.process), 50000)")
                }
                #expect(ended.hasPrefix("t"))
                let after = try await backend(pool)
                #expect(after.process != before.process)
                #expect(after.generation > before.generation)
            }
        }

        @Test func `a transaction that stood idle for too long has lost its connection`() async throws {
            try await withPool(lanes: 1, adjust: { $0.idleInTransactionTimeout = 50 }) { pool, cluster in
                let (hasBegun, mayGoOn) = (Gate(), Gate())
                let idler = Task {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.begin()
                        try connection.execute("SELECT 'idler'")
                        hasBegun.open()
                        mayGoOn.wait()
                        try connection.execute("SELECT 1")
                    }
                }
                try await aside { hasBegun.wait() }
                let isGone = try await eventually {
                    let text =
                        "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT ''idler'''"
                    return try await aside { try cluster.psql(text).hasPrefix("0") }
                }
                #expect(isGone)
                mayGoOn.open()
                await #expect(throws: PostgresError.connectionLost) { try await idler.value }
                let next = try await backend(pool)
                #expect(next.process > 0)
            }
        }

        @Test func `a server that stands still is given up, by its statement and by those in line`() async throws {
            let cluster = try await aside { try PostgresCluster() }
            let adjust = { (settings: inout Pool.Settings) in settings.statementTimeout = 200 }
            try await withPool(lanes: 1, on: cluster, adjust: adjust) { pool, _ in
                _ = try await backend(pool)
                try await aside { try cluster.freeze(true) }
                let errors = await withTaskGroup(of: PostgresError?.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            do throws(PostgresError) {
                                try await lend(pool) { connection throws(PostgresError) in
                                    try connection.execute("SELECT 1")
                                }
                                return nil
                            } catch {
                                return error
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                try await aside { try cluster.freeze(false) }
                #expect(errors.contains(.connectionLost))
                #expect(errors.contains(.unavailable(reason: "PostgreSQL does not answer")))
                let isBack = try await eventually { (try? await backend(pool)) != nil }
                #expect(isBack)
            }
        }

        @Test func `a connection that ends under a statement is lost for it and for nobody else`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                await #expect(throws: PostgresError.connectionLost) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.begin()
                        try connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                    }
                }
                let next = try await backend(pool)
                #expect(next.process > 0)
            }
        }
    }
}

private final class Order: Sendable {
    private let state = Mutex<[Int]>([])

    var numbers: [Int] { state.withLock { $0 } }

    func append(_ number: Int) { state.withLock { $0.append(number) } }
}
