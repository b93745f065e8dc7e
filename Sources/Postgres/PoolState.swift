internal import Lanes

/// Who waits, which lane is free and whether the server can be reached: the decisions of a pool, without any waiting.
struct PoolState {
    enum Placement {
        /// An idle lane got the call and has to be woken.
        case handed(lane: Int)
        /// In line; the keeper of deadlines has to be woken when nobody stood there for a while.
        case queued(wakesKeeper: Bool)
        case refused(PostgresError)
    }

    private enum LaneState: Equatable {
        case connecting, idle, leased, ended
    }

    private let maximumWaiting: Int
    private(set) var waiting = Line<any Call>()
    private var lanes: [LaneState]
    private var handed: [(any Call)?]
    // The lane that was busy last is the first to be used again: its caches are warm.
    private var idle: [Int] = []
    /// Why nobody could connect; nil as long as that is not known.
    private var outage: PostgresError?
    /// The keeper will look at the line by itself, at the latest after the time that a call may wait.
    private var isKept = false
    private(set) var isStopping = false

    init(lanes: Int, maximumWaiting: Int) {
        self.lanes = Array(repeating: .connecting, count: lanes)
        handed = Array(repeating: nil, count: lanes)
        self.maximumWaiting = maximumWaiting
    }

    var connected: Int { lanes.count { $0 == .idle || $0 == .leased } }
    var leased: Int { lanes.count { $0 == .leased } }
    var hasEnded: Bool { lanes.allSatisfy { $0 == .ended } }

    mutating func place(_ call: any Call) -> Placement {
        guard !isStopping else { return .refused(.unavailable(reason: "the pool is stopped")) }
        if let lane = idle.popLast() {
            lanes[lane] = .leased
            handed[lane] = call
            return .handed(lane: lane)
        }
        if connected == 0, let outage { return .refused(outage) }
        guard waiting.count < maximumWaiting else { return .refused(.saturated) }
        waiting.append(call)
        defer { isKept = true }
        return .queued(wakesKeeper: !isKept)
    }

    /// What a connected lane does next: nil means that it is idle until it is woken.
    mutating func next(for lane: Int) -> (any Call)? {
        if let call = handed[lane] ?? waiting.removeFirst() {
            handed[lane] = nil
            lanes[lane] = .leased
            return call
        }
        if lanes[lane] != .idle {
            lanes[lane] = .idle
            idle.append(lane)
        }
        return nil
    }

    mutating func noteConnected(_ lane: Int) {
        outage = nil
        lanes[lane] = .leased
    }

    /// The lane has lost its connection; a call it was handed but has not begun goes to another, returned to be woken.
    mutating func noteLost(_ lane: Int) -> Int? {
        lanes[lane] = .connecting
        idle.removeAll { $0 == lane }
        guard let call = handed[lane] else { return nil }
        handed[lane] = nil
        guard let other = idle.popLast() else {
            waiting.prepend(call)
            return nil
        }
        lanes[other] = .leased
        handed[other] = call
        return other
    }

    /// An attempt to connect failed; returns those who must not wait any longer.
    mutating func noteFailure(_ error: PostgresError) -> [any Call] {
        outage = error
        return connected == 0 ? waiting.removeAll() : []
    }

    mutating func noteEnd(_ lane: Int) {
        lanes[lane] = .ended
    }

    mutating func cancel(_ number: UInt64) -> (any Call)? {
        waiting.remove { $0.number == number }
    }

    /// Those who have waited for too long, and when to look again (nil: when called).
    ///
    /// An empty line is watched until `keepsUntil`, so that short queues do not wake the keeper each time.
    mutating func expire(
        at now: ContinuousClock.Instant, keepsUntil: ContinuousClock.Instant?
    ) -> (expired: [any Call], next: ContinuousClock.Instant?) {
        var expired: [any Call] = []
        while let first = waiting.first, first.deadline <= now {
            _ = waiting.removeFirst()
            expired.append(first)
        }
        let next = waiting.first?.deadline ?? keepsUntil
        isKept = next != nil
        return (expired, next)
    }

    /// Refuses new calls and returns those in line; leased lanes finish what they do.
    mutating func stop() -> [any Call] {
        isStopping = true
        return waiting.removeAll()
    }
}
