import Wire

/// What became of the requests of a run.
///
/// Rates and latencies are those of the window; `sent`, `succeeded` and the statuses count everything, so that they can be
/// compared with what the server has stored.
struct Tally {
    let expected: [Int]
    /// A request belongs to the window when it was due in it (open loop) and, for rates, when it was answered in it.
    var window: Range<Int64> = 0..<1
    var sent = 0
    var unanswered = 0
    var reopened = 0
    private var succeeded = 0
    private var statuses: [Int: Int] = [:]
    private var broken = 0
    private var givenUp = 0
    private var answeredInWindow = 0
    private var dueInWindow = 0
    private var goodInWindow = 0
    private var latency = Histogram()

    init(expected: [Int]) { self.expected = expected }

    mutating func note(_ status: Int, due: Int64, at now: Int64, within deadline: Int64) {
        statuses[status, default: 0] += 1
        let isGood = expected.contains(status)
        if isGood { succeeded += 1 }
        if window.contains(now), isGood { answeredInWindow += 1 }
        guard window.contains(due) else { return }
        dueInWindow += 1
        guard isGood else { return }
        latency.add(now - due)
        if now - due <= deadline { goodInWindow += 1 }
    }

    /// The connection broke under a request.
    mutating func noteBroken(due: Int64) {
        broken += 1
        if window.contains(due) { dueInWindow += 1 }
    }

    /// No connection was free within the deadline.
    mutating func noteGivenUp(due: Int64) {
        givenUp += 1
        if window.contains(due) { dueInWindow += 1 }
    }

    func report(seconds: Double) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("sent", sent)
        writer.field("succeeded", succeeded)
        writer.field("broken", broken)
        writer.field("givenUp", givenUp)
        writer.field("unanswered", unanswered)
        writer.field("reopened", reopened)
        writer.key("statuses")
        writer.beginObject()
        for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
            writer.key("\(status)")
            writer.integer(count)
        }
        writer.endObject()
        writer.field("perSecond", Int((Double(answeredInWindow) / seconds).rounded()))
        writer.field("duePerSecond", Int((Double(dueInWindow) / seconds).rounded()))
        writer.field("goodPerSecond", Int((Double(goodInWindow) / seconds).rounded()))
        writer.field("latency", latency)
        writer.endObject()
        return writer.finish() + [0x0A]
    }
}
