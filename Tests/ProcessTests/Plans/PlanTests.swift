import Glibc
import TestKit
import Testing
import Wire

/// What the program really asks PostgreSQL, beside many rows in every table.
struct PlanTests {
    private static let rows = getenv("ENFILADE_AT_LENGTH") != nil ? 1_000_000 : 50_000
    private static let settings = """
        session_preload_libraries = 'auto_explain'
        auto_explain.log_analyze = on
        auto_explain.log_timing = off
        auto_explain.log_format = json
        auto_explain.log_nested_statements = on
        max_wal_size = 8GB
        """
    /// Whatever a page, a look-up or a step of the sweeper may read; a page has 50 rows.
    private static let most = 1_000
    private static let big: Set<String> = [
        "account", "app", "session", "refresh_token", "device", "device_list", "mailbox", "mailbox_ack", "mailbox_item",
        "message", "configuration_revision", "configuration_report", "audit_entry", "audit_leaf", "sign_in_throttle",
        "idempotency",
    ]

    @Test("No list, look-up or sweep reads much more than it shows, however much is stored", .timeLimit(.minutes(10)))
    func bounded() async throws {
        let scratch = try Scratch()
        let postgres = try await PrivatePostgres.make(in: scratch, settings: Self.settings)
        let server = try await postgres.launch()
        try await server.started()
        let cast = try await Cast.enrol(on: server, senders: 1, receivers: [1])
        try await Self.fill(postgres, for: cast)
        try await postgres.cluster.psql("ALTER ROLE enfilade_app SET auto_explain.log_min_duration = 0")
        await server.stop()

        // The connections of another process: these have plans, and no memory of what came before.
        let other = try await postgres.launch()
        try await other.started()
        try await Self.use(cast, at: other)
        try await until("the sweeper has been") { try await Self.isSwept(postgres) }
        await other.stop()
        try await Self.judge(Plan.all(in: postgres.cluster.psql("SELECT pg_read_file('server.log')")))
    }

    private static func use(_ cast: Cast, at other: ServerProcess) async throws {
        let (admin, owner) = (cast.admin.at(other), cast.receivers[0].owner.at(other))
        for target in lists() {
            // More than five times, so that a plan for any values is tried too.
            for _ in 0..<7 { try await turn(target, by: admin) }
        }
        for target in ["/v1/devices", "/v1/mailbox", "/v1/sessions", "/v1/config", "/v1/session"] {
            for _ in 0..<7 { #expect(try await owner.get(target).status == 200, "\(target)") }
        }
        let changed = try await admin.call(
            "PATCH", "/v1/accounts/\(owner.account)", ["displayName": "Other"], headers: [("If-Match", "*")])
        #expect(changed.status == 200, "\(changed.text)")
        let list = try await cast.senders[0].owner.at(other).get("/v1/accounts/\(owner.account)/devices")
        #expect(list.status == 200)
        #expect(try await admin.call("DELETE", "/v1/apps/app-2", headers: [("If-Match", "*")]).status == 204)
        _ = try? await other.signIn("receiver0", password: "wrong", app: "chat")
        let acknowledged = try await owner.call("POST", "/v1/mailbox/acks", ["through": 150])
        #expect(acknowledged.status < 300, "\(acknowledged.text)")
    }

    private static func fill(_ postgres: PrivatePostgres, for cast: Cast) async throws {
        let device = cast.receivers[0]
        let mailbox = try await postgres.cluster.psql(
            "SELECT id FROM mailbox WHERE device_id = '\(device.id)'", database: postgres.database)
        let seed = Seed(
            rows: rows, mailbox: mailbox.split(separator: "\n").first.map(String.init) ?? "",
            account: cast.admin.account.description)
        for statement in seed.statements { try await postgres.cluster.psql(statement, database: postgres.database) }
        try await postgres.cluster.psql("VACUUM (ANALYZE)", database: postgres.database)
    }

    /// Whether nothing is left to sweep.
    private static func isSwept(_ postgres: PrivatePostgres) async throws -> Bool {
        let count = """
            SELECT (SELECT count(*) FROM message WHERE keep_until < now())
                + (SELECT count(*) FROM mailbox_item WHERE seq <= 150 OR keep_until < now())
            """
        return try await postgres.cluster.psql(count, database: postgres.database).hasPrefix("0")
    }

    /// Reads the first page and the one after it.
    private static func turn(_ target: String, by admin: SignedIn) async throws {
        let page = try await admin.get(target)
        #expect(page.status == 200, "\(target)")
        guard let next = page["next"]?.text else { return }
        let more = target + (target.contains("?") ? "&" : "?") + "after=" + next
        #expect(try await admin.get(more).status == 200, "\(more)")
    }

    /// Each list with every filter and pair of filters, and each pair of the log's.
    private static func lists() -> [String] {
        let someone = "00000000-0000-7000-8000-000000000001"
        let filters = [
            "actor=\(someone)", "actor=nobody", "target=\(someone)", "action=account.created", "action=configuration.*",
            "action=session.started", "outcome=refused", "from=2020-01-01T00:00:00Z", "to=2020-01-01T00:00:00Z",
        ]
        var lists = filters.map { "/v1/audit/entries?\($0)" }
        for (number, filter) in filters.enumerated() {
            let name = filter.prefix { $0 != "=" }
            let pairs = filters[(number + 1)...].filter { !$0.hasPrefix(name + "=") }
            lists += pairs.map { "/v1/audit/entries?\(filter)&\($0)" }
        }
        lists.append("/v1/audit/entries")
        lists += ["accounts", "apps", "sessions"].map { "/v1/\($0)" }
        lists += ["/v1/accounts/\(someone)/devices", "/v1/directory?username=user7", "/v1/apps/chat/config/revisions"]
        let reports = ["", "state=applied", "state=rejected", "revision=7", "revision=\(rows)", "revision=8"]
        lists += reports.map { "/v1/apps/chat/config/reports?" + $0 }
        lists += ["applied", "rejected"].map { "/v1/apps/chat/config/reports?revision=7&state=\($0)" }
        return lists
    }

    private static func judge(_ plans: [Plan]) {
        let scans = plans.flatMap { plan in plan.scans.map { (plan.query, $0) } }
        #expect(Set(scans.map(\.1.place)).count > 15, "the plans were found")
        let whole = scans.filter { $1.kind == "Seq Scan" && big.contains($1.place) }
        // Someone's entries, or those about something, with a second filter: at most all of theirs are looked at.
        let (crossed, plain) = (scans.filter { isCrossed($0.0) }, scans.filter { !isCrossed($0.0) })
        let long = plain.filter { $1.rows > most }
        let longest = plain.map(\.1.rows).max() ?? 0
        print(
            "plans: \(plans.count) beside \(rows) rows a table; the longest scan read \(longest) rows, "
                + "with crossed audit filters \(crossed.map(\.1.rows).max() ?? 0)")
        for (query, scan) in unique(whole + long) {
            Issue.record("\(scan.kind) of \(scan.place) read \(scan.rows) rows: \(query)")
        }
    }

    private static func isCrossed(_ query: String) -> Bool {
        query.contains("AND actor_id = $") || query.contains("AND target_id = $")
    }

    /// One of each statement and place.
    private static func unique(_ scans: [(String, Plan.Scan)]) -> [(String, Plan.Scan)] {
        var seen: Set<String> = []
        return scans.filter { seen.insert($0.0 + $0.1.place + $0.1.kind).inserted }
    }
}
