import TestKit
import Testing

/// Full volumes under PostgreSQL: small ones in memory, where the machine lets us mount them.
@Suite(.serialized) struct DiskTests {
    @Test("A full volume under the tables costs 503s until there is room again", .timeLimit(.minutes(5)))
    func tables() async throws {
        guard let volume = try await blocking({ Volume(megabytes: 64) }) else { return skip() }
        let folder = try await blocking { try volume.folder("tables") }
        try await Stage.with(prepare: { postgres in
            try await postgres.cluster.psql("CREATE TABLESPACE small LOCATION '\(folder)'")
            try await postgres.cluster.psql("ALTER DATABASE \(postgres.database) SET TABLESPACE small")
        }) { stage in
            try await stage.meet("no room for tables") {
                try await blocking { try volume.fill() }
                try await Self.everySender(of: stage, isRefused: 5)
                try await blocking { try volume.free() }
            }
        }
    }

    @Test(
        "A full volume under the WAL stops PostgreSQL; freed and started again, it has all that was answered",
        .timeLimit(.minutes(5)))
    func wal() async throws {
        guard let volume = try await blocking({ Volume(megabytes: 32) }) else { return skip() }
        let folder = try await blocking { try volume.folder("wal") }
        let settings = "min_wal_size = 2MB\nmax_wal_size = 4MB"
        try await Stage.with(settings: settings, walDirectory: folder) { stage in
            let postgres = stage.postgres
            try await stage.meet("no room for the WAL: PostgreSQL panics") {
                try await blocking { try volume.fill() }
                // So much at once that no checkpoint gives segments back in time.
                let flood =
                    "SELECT count(pg_logical_emit_message(false, 'flood', repeat('x', 1000000))) FROM generate_series(1, 100)"
                try await until("PostgreSQL has gone") { (try? await postgres.cluster.psql(flood)) == nil }
                try await Self.everySender(of: stage, isRefused: 5)
                try await blocking { try volume.free() }
                // Whatever is left of it: it may have given up recovering.
                try? await postgres.stop(.immediate)
                try await postgres.start()
            }
        }
    }

    private static func everySender(of stage: Stage, isRefused times: Int) async throws {
        let refused = stage.senders.map(\.figures.unavailable)
        try await until("every sender was refused") {
            zip(stage.senders, refused).allSatisfy { $0.figures.unavailable >= $1 + times }
        }
    }

    private func skip() {
        print("trouble: full volumes: skipped, this machine does not let the test mount one")
    }
}
