import Audit
import Domain
import Glibc
import HTTP
import Lanes
import Mailboxes
import Postgres
import Synchronization

/// What `/metrics` says of this moment, besides the counters.
final class LiveFigures: Sendable {
    private let metrics: Metrics
    private let pool: Pool
    private let passwords: LaneGroup
    private let mailboxes: Mailboxes
    private let audit: Audit
    private let clock: ClockWatch
    private let server = Mutex<Server?>(nil)

    init(
        metrics: Metrics, pool: Pool, passwords: LaneGroup, mailboxes: Mailboxes, audit: Audit, clock: ClockWatch
    ) {
        self.metrics = metrics
        self.pool = pool
        self.passwords = passwords
        self.mailboxes = mailboxes
        self.audit = audit
        self.clock = clock
    }

    /// What is attached holds these figures through its routes: it is let go of at the end.
    func attach(_ server: Server?) { self.server.withLock { $0 = server } }

    func page() -> String {
        var page = MetricsPage()
        metrics.write(to: &page)
        if let server = server.withLock({ $0 }) { write(server.figures, to: &page) }
        let lanes = pool.figures
        page.gauge("enfilade_database_lanes", "Database lanes.", Double(lanes.lanes))
        page.gauge("enfilade_database_lanes_connected", "Lanes with a connection.", Double(lanes.connected))
        page.gauge("enfilade_database_lanes_leased", "Lanes in use.", Double(lanes.leased))
        let waiting = mailboxes.figures
        page.gauge(
            "enfilade_queue_waiting", "What waits in each line now.", label: "queue",
            [
                (Queue.database.rawValue, Double(lanes.waiting)), (Queue.passwords.rawValue, Double(passwords.waiting)),
                (Queue.sends.rawValue, Double(waiting.waitingMessages)),
            ])
        page.counter("enfilade_queue_wait_seconds", "Time spent in each line.", labels: ["queue"]) { sample in
            sample([Queue.database.rawValue], lanes.waitedFor)
            sample([Queue.passwords.rawValue], passwords.waitedFor)
            sample([Queue.sends.rawValue], waiting.waitedFor)
        }
        page.counter("enfilade_database_leases", "Times that a lane was lent.", Double(lanes.served))
        page.gauge("enfilade_mailbox_recent_bytes", "Just committed items held in memory.", Double(waiting.recentBytes))
        page.gauge("enfilade_mailbox_watched", "Mailboxes that a stream follows.", Double(waiting.watchedMailboxes))
        let order = audit.figures
        page.gauge("enfilade_audit_pending_entries", "Entries that have no index yet.", Double(order.pending))
        page.gauge("enfilade_audit_last_index", "Index of the last entry.", Double(order.lastIndex ?? -1))
        page.gauge(
            "enfilade_clock_ahead_seconds", "How far this machine's clock is ahead of the database's.",
            clock.ahead / .seconds(1))
        page.gauge("enfilade_process_resident_memory_bytes", "Resident memory.", Double(Self.residentBytes()))
        return page.text
    }

    private func write(_ figures: Figures, to page: inout MetricsPage) {
        page.gauge("enfilade_http_connections", "Open connections.", Double(figures.openConnections))
        page.gauge("enfilade_http_requests_in_flight", "Requests being answered.", Double(figures.requestsInFlight))
        page.gauge("enfilade_streams", "Open event streams.", Double(figures.streams))
        page.counter("enfilade_http_connections_accepted", "Connections accepted.", Double(figures.acceptedTotal))
        page.counter(
            "enfilade_http_connections_turned_away", "Connections closed because their address had too many.",
            Double(figures.turnedAwayTotal))
        page.counter(
            "enfilade_http_connections_timed_out", "Connections cut for slowness, by what was waited for.",
            label: "stage",
            [
                "head": figures.slowHeadsTotal, "body": figures.slowBodiesTotal, "answer": figures.slowReadersTotal,
                "idle": figures.idleTotal,
            ])
        page.gauge("enfilade_http_body_bytes", "Request bodies held.", Double(figures.bodyBytes))
        page.counter(
            "enfilade_http_bodies_refused", "Requests refused because too many bodies were held.",
            Double(figures.bodiesRefusedTotal))
        page.counter("enfilade_http_refused", "Requests refused before a route.", Double(figures.refusedTotal))
    }

    /// The second field of /proc/self/statm, in pages.
    private static func residentBytes() -> Int {
        guard let line = File.firstLine(of: "/proc/self/statm") else { return 0 }
        let fields = line.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
