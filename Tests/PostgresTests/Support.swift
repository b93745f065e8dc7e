import Dispatch
import Lanes
import Postgres
import TestKit
import Testing

/// The tests of this room, one at a time: they hold locks and threads, and measure waiting.
@Suite(.serialized) enum PostgresRoom {}

private let side = Lane(name: "cluster")

/// Runs the programs of PostgreSQL, which block, on a thread of their own.
func aside<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await side.run(body)
}

/// Lends a connection and lets the closure throw.
@discardableResult
func lend<R: Sendable>(
    _ pool: Pool, _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> R
) async throws(PostgresError) -> R {
    let result = try await pool.lend { connection in
        Result { () throws(PostgresError) in try body(connection) }
    }
    return try result.get()
}

/// The error of a statement; nil when it succeeds.
func failure(of sql: SQL, on connection: borrowing Connection) -> PostgresError? {
    do throws(PostgresError) {
        try connection.execute(sql)
        return nil
    } catch {
        return error
    }
}

/// Makes a database and a pool on it, and removes both.
func withPool(
    lanes: Int = 2, on cluster: PostgresCluster? = nil, adjust: (inout Pool.Settings) -> Void = { _ in },
    _ body: (Pool, PostgresCluster) async throws -> Void
) async throws {
    let cluster = try await aside { try cluster ?? PostgresCluster.shared }
    let name = try await aside { try cluster.createDatabase() }
    var settings = Pool.Settings(conninfo: cluster.conninfo(database: name, role: .owner))
    settings.lanes = lanes
    adjust(&settings)
    let pool = Pool(settings)
    pool.start()
    do {
        try await body(pool, cluster)
    } catch {
        await pool.stop()
        throw error
    }
    await pool.stop()
    try await aside { try cluster.dropDatabase(name) }
}

/// A point that a blocking closure waits for; ends by itself so that a failure cannot hang the run.
struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() { _ = semaphore.wait(timeout: .now() + 60) }
}

/// Asks again until the answer is yes, for a minute and once more: the task may have slept all that time.
func eventually(_ question: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
        if try await question() { return true }
        await Task.yield()
    }
    return try await question()
}
