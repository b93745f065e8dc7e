import Glibc
import Postgres
import TestKit
import Testing

/// One server meets one trouble after the other; each leaves a line with what it cost.
@Suite(.serialized) struct TroubleTests {
    private static let atLength = getenv("ENFILADE_AT_LENGTH") != nil

    @Test(
        "Restarts, outages and lost connections cost time only: nothing is lost, and service is back in five seconds",
        .timeLimit(.minutes(5)))
    func away() async throws {
        let settings = "max_connections = 40\nwal_level = replica\nmax_wal_senders = 2"
        try await Stage.with(settings: settings) { stage in
            let postgres = stage.postgres
            try await stage.meet("restarted (fast)") { try await postgres.restart(.fast) }
            try await stage.meet("restarted (immediate, recovers from a crash)") {
                try await postgres.restart(.immediate)
            }
            let seconds = Self.atLength ? 30 : 3
            try await stage.meet("away for \(seconds) s") {
                try await postgres.stop(.fast)
                try await Task.sleep(for: .seconds(seconds))
                try await postgres.start()
            }
            try await stage.meet("every connection ended, 30 times", .init(isFelt: false)) {
                for _ in 0..<30 {
                    try await postgres.endConnections()
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            try await Self.crowdOut(stage)
            try await Self.endCommits(stage)
        }
    }

    /// Somebody else takes every connection: first those that are free, then those that the server loses.
    private static func crowdOut(_ stage: Stage) async throws {
        let postgres = stage.postgres
        let crowds = [crowd(at: postgres)]
        try await stage.meet("all free connections taken by others", .init(isFelt: false)) {
            try await until("the crowd is in") { try await postgres.connections() >= 37 }
            for counter in stage.accepted { try await counter.reach(counter.value + 10, within: .seconds(10)) }
        }
        try await stage.meet("all connections taken by others") {
            var crowds = crowds
            try await until("the server is out") {
                // A fresh crowd each time: those who were turned away for long ask seldom.
                crowds.append(crowd(at: postgres))
                try await postgres.endConnections()
                return try await postgres.connections(of: "enfilade%") == 0
            }
            let refused = stage.senders.map(\.figures.unavailable)
            try await until("every sender has heard of it") {
                zip(stage.senders, refused).allSatisfy { $0.figures.unavailable > $1 + 5 }
            }
            for crowd in crowds { await crowd.stop() }
        }
    }

    private static func crowd(at postgres: PrivatePostgres) -> Pool {
        var settings = Pool.Settings(conninfo: postgres.environment["ENFILADE_DATABASE_URL"] ?? "")
        settings.lanes = 40
        settings.applicationName = "crowd"
        let crowd = Pool(settings)
        crowd.start()
        return crowd
    }

    /// Commits that have happened and were never answered: the connection goes while they wait for a standby.
    private static func endCommits(_ stage: Stage) async throws {
        let postgres = stage.postgres
        let repeats = stage.senders.map(\.figures.repeats).reduce(0, +)
        try await stage.meet("ended in the middle of commits") {
            try await postgres.set("synchronous_standby_names", to: "nobody")
            for _ in 0..<3 {
                try await until("a send waits in its commit") { try await postgres.endCommits() > 0 }
            }
            try await postgres.set("synchronous_standby_names", to: "")
            try await postgres.endCommits()
        }
        #expect(
            stage.senders.map(\.figures.repeats).reduce(0, +) > repeats, "a commit that happened was asked for again")
    }

    @Test(
        "A lock that somebody else holds costs those who need it a 503 in time, and nobody else anything",
        .timeLimit(.minutes(5)))
    func locks() async throws {
        try await Stage.with { stage in
            for table in ["mailbox", "session", "account"] {
                try await stage.meet("table \(table) locked for 6 s", .init(isFelt: table != "account")) {
                    let sql = "BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(6); COMMIT"
                    try await stage.postgres.cluster.psql(sql, database: stage.postgres.database)
                }
            }
        }
    }

    @Test("A mailbox that somebody else holds costs its own senders a 503, and others little", .timeLimit(.minutes(5)))
    func oneMailbox() async throws {
        try await Stage.with { stage in
            let friend = stage.cast.senders[0]
            let sent = Counter()
            let other = Sender(stage.cast.receivers[1], to: [(friend.owner.account, [friend.id])], counting: sent)
            try await withThrowingTaskGroup { group in
                group.addTask { await other.run() }
                var before = 0
                try await stage.meet("one mailbox locked for 6 s", .init(patience: .seconds(5))) {
                    before = sent.value
                    let sql = """
                        BEGIN; SELECT 1 FROM mailbox WHERE device_id = '\(stage.cast.receivers[0].id)' FOR UPDATE;
                        SELECT pg_sleep(6); COMMIT
                        """
                    try await stage.postgres.cluster.psql(sql, database: stage.postgres.database)
                }
                other.stop()
                try await group.waitForAll()
                let figures = other.figures
                print(
                    "trouble: meanwhile to another mailbox: 2xx \(sent.value - before), 503 \(figures.unavailable), "
                        + "slowest \(figures.slowest.milliseconds) ms")
                #expect(figures.unavailable == 0)
                // How many there are is the machine's matter; in line behind the lock there would be one or two.
                #expect(sent.value - before > 5, "they did not stand in line")
            }
        }
    }

    @Test("A PostgreSQL that stands still holds nobody up for long", .timeLimit(.minutes(5)))
    func frozen() async throws {
        try await Stage.with { stage in
            try await stage.meet("frozen for 12 s", .init(patience: .seconds(10))) {
                try await stage.postgres.freeze(true)
                try await Task.sleep(for: .seconds(12))
                try await stage.postgres.freeze(false)
            }
        }
    }
}

extension PrivatePostgres {
    func connections(of program: String = "%") async throws -> Int {
        let sql = """
            SELECT count(*) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND application_name LIKE '\(program)'
            """
        return Int(try await cluster.psql(sql).prefix { $0.isNumber }) ?? -1
    }

    /// Ends all that the server has.
    func endConnections() async throws {
        try await cluster.psql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'enfilade%'")
    }

    /// Ends connections whose commit has happened and waits for a standby; how many there were.
    @discardableResult
    func endCommits() async throws -> Int {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return Int(try await cluster.psql(sql).prefix { $0.isNumber }) ?? -1
    }

    func set(_ name: String, to value: String) async throws {
        try await cluster.psql("ALTER SYSTEM SET \(name) = '\(value)'")
        try await cluster.psql("SELECT pg_reload_conf()")
    }
}
