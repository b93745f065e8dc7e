import Domain
import Lanes

/// The counters behind `/metrics`, made from the same observations as the log.
///
/// Labels are route patterns, methods and statuses: few, and nobody's data.
final class Metrics: Sendable {
    fileprivate struct Series: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    fileprivate struct State {
        var requests: [Series: Int] = [:]
        var durations: [String: Histogram] = [:]
        var failures = 0
        var turnedAway: [String: Int] = [:]
        var limited: [String: Int] = [:]
        var falters: [String: Int] = [:]
        var commits = 0
        var messages = 0
        var items = 0
        var commitSeconds = 0.0
        var sweptItems = 0
        var sequenced = 0
        var signIns: [String: Int] = [:]
        var refreshRepeats = 0
        var streamsOpened = 0
        var streamsClosed: [String: Int] = [:]
        var events = 0
    }

    /// Every request is noted.
    private let shards = Shards { State() }

    func note(_ observation: Observation) {
        shards.withLockOfThread { state in
            switch observation {
            case .request(let request):
                let series = Series(method: request.method, route: request.route, status: request.status)
                state.requests[series, default: 0] += 1
                state.durations[request.route, default: Histogram()].note(request.seconds)
            case .failed: state.failures += 1
            case .faltered(let task, _): state.falters["\(task)", default: 0] += 1
            case .committed(let messages, let items, let seconds):
                state.commits += 1
                state.messages += messages
                state.items += items
                state.commitSeconds += seconds
            case .swept(let items, _): state.sweptItems += items
            case .sequenced(let entries): state.sequenced += entries
            case .signedIn(let outcome): state.signIns[outcome.rawValue, default: 0] += 1
            case .refreshRepeated: state.refreshRepeats += 1
            case .streamOpened: state.streamsOpened += 1
            case .streamClosed(let reason): state.streamsClosed["\(reason)", default: 0] += 1
            case .eventsSent(let count): state.events += count
            case .limited(let rate): state.limited[rate, default: 0] += 1
            case .turnedAway(let queue): state.turnedAway[queue.rawValue, default: 0] += 1
            case .started, .draining, .stopped, .recovered, .migrated, .advice: break
            }
        }
    }

    func write(to page: inout MetricsPage) {
        let state = shards.all.reduce(into: State()) { $0.add($1) }
        page.counter("enfilade_http_requests", "Requests answered.", labels: ["method", "route", "status"]) { sample in
            for (series, count) in state.requests {
                sample([series.method, series.route, "\(series.status)"], Double(count))
            }
        }
        page.histogram("enfilade_http_request_duration_seconds", "Time to answer.", label: "route", state.durations)
        page.counter("enfilade_http_failures", "Requests that failed for a reason of ours.", Double(state.failures))
        let turnedAway = Dictionary(uniqueKeysWithValues: Queue.allCases.map { ($0.rawValue, 0) })
            .merging(state.turnedAway) { $1 }
        page.counter(
            "enfilade_queue_turned_away", "Requests turned away because a line was too long.", label: "queue",
            turnedAway)
        page.counter("enfilade_rate_limited", "Requests refused by a rate limit.", label: "rate", state.limited)
        page.counter("enfilade_task_falters", "Failures of tasks behind the requests.", label: "task", state.falters)
        page.counter("enfilade_mailbox_commits", "Transactions of the committer.", Double(state.commits))
        page.counter("enfilade_mailbox_messages", "Messages committed.", Double(state.messages))
        page.counter("enfilade_mailbox_items", "Mailbox items committed.", Double(state.items))
        page.counter("enfilade_mailbox_commit_seconds", "Time spent in commits.", state.commitSeconds)
        page.counter("enfilade_mailbox_swept_items", "Mailbox items deleted.", Double(state.sweptItems))
        page.counter("enfilade_audit_sequenced_entries", "Audit entries put in order.", Double(state.sequenced))
        page.counter("enfilade_sign_ins", "Sign-ins by outcome.", label: "outcome", state.signIns)
        page.counter(
            "enfilade_refresh_token_repeats", "Refresh tokens exchanged again within the time for lost answers.",
            Double(state.refreshRepeats))
        page.counter("enfilade_streams_opened", "Event streams opened.", Double(state.streamsOpened))
        page.counter("enfilade_streams_closed", "Event streams closed.", label: "reason", state.streamsClosed)
        page.counter("enfilade_stream_events", "Events sent.", Double(state.events))
    }
}

extension Metrics.State {
    fileprivate mutating func add(_ other: Self) {
        requests.merge(other.requests, uniquingKeysWith: +)
        durations.merge(other.durations) { $0.adding($1) }
        failures += other.failures
        turnedAway.merge(other.turnedAway, uniquingKeysWith: +)
        limited.merge(other.limited, uniquingKeysWith: +)
        falters.merge(other.falters, uniquingKeysWith: +)
        commits += other.commits
        messages += other.messages
        items += other.items
        commitSeconds += other.commitSeconds
        sweptItems += other.sweptItems
        sequenced += other.sequenced
        signIns.merge(other.signIns, uniquingKeysWith: +)
        refreshRepeats += other.refreshRepeats
        streamsOpened += other.streamsOpened
        streamsClosed.merge(other.streamsClosed, uniquingKeysWith: +)
        events += other.events
    }
}

/// Latencies in buckets from 1 ms to 10 s.
struct Histogram: Sendable {
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0

    mutating func note(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    func adding(_ other: Histogram) -> Histogram {
        var both = self
        for index in counts.indices { both.counts[index] += other.counts[index] }
        both.sum += other.sum
        return both
    }
}

/// Prometheus' text format, version 0.0.4.
struct MetricsPage {
    private(set) var text = ""

    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        head(name, help, "gauge")
        line(name, [], value)
    }

    mutating func gauge(_ name: String, _ help: String, label: String, _ values: [(String, Double)]) {
        head(name, help, "gauge")
        for (value, number) in values { line(name, [(label, value)], number) }
    }

    mutating func counter(_ name: String, _ help: String, _ value: Double) {
        head("\(name)_total", help, "counter")
        line("\(name)_total", [], value)
    }

    mutating func counter(_ name: String, _ help: String, label: String, _ values: [String: Int]) {
        counter(name, help, labels: [label]) { sample in
            for (value, count) in values { sample([value], Double(count)) }
        }
    }

    mutating func counter(
        _ name: String, _ help: String, labels: [String],
        _ samples: ((_ values: [String], _ value: Double) -> Void) -> Void
    ) {
        head("\(name)_total", help, "counter")
        var lines: [([(String, String)], Double)] = []
        samples { values, value in lines.append((Array(zip(labels, values)), value)) }
        for (labels, value) in lines.sorted(by: { "\($0.0)" < "\($1.0)" }) { line("\(name)_total", labels, value) }
    }

    mutating func histogram(_ name: String, _ help: String, label: String, _ histograms: [String: Histogram]) {
        head(name, help, "histogram")
        for (value, histogram) in histograms.sorted(by: { $0.key < $1.key }) {
            var running = 0
            for (index, count) in histogram.counts.enumerated() {
                running += count
                let bound = index < Histogram.bounds.count ? Self.number(Histogram.bounds[index]) : "+Inf"
                line("\(name)_bucket", [(label, value), ("le", bound)], Double(running))
            }
            line("\(name)_sum", [(label, value)], histogram.sum)
            line("\(name)_count", [(label, value)], Double(running))
        }
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
