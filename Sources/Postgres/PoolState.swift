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
    private let longestLine: Duration
    private var arriving = Line<any Call>()
    private var underWay = Line<any Call>()
    /// Of calls, each on its lane.
    private var pace = Pace()
    private(set) var turnedAway = 0
    private(set) var waitedFor = 0.0
    private(set) var served = 0
    private var lanes: [LaneState]
    private var handed: [(any Call)?]
    // The lane that was busy last is the first to be used again: its caches are warm.
    private var idle: [Int] = []
    /// Why nobody could connect; nil as long as that is not known.
    private var outage: PostgresError?
    /// The keeper will look at the line by itself, at the latest after the time that a call may wait.
    private var isKept = false
    private(set) var isStopping = false

    init(lanes: Int, maximumWaiting: Int, longestLine: Duration) {
        self.longestLine = longestLine
        self.lanes = Array(repeating: .connecting, count: lanes)
        handed = Array(repeating: nil, count: lanes)
        self.maximumWaiting = maximumWaiting
    }

    var connected: Int { lanes.count { $0 == .idle || $0 == .leased } }
    var leased: Int { lanes.count { $0 == .leased } }
    var hasEnded: Bool { lanes.allSatisfy { $0 == .ended } }
    var waitingCount: Int { arriving.count + underWay.count }

    mutating func place(_ call: any Call) -> Placement {
        guard !isStopping else { return .refused(.unavailable(reason: "the pool is stopped")) }
        if let lane = idle.popLast() {
            lanes[lane] = .leased
            handed[lane] = call
            return .handed(lane: lane)
        }
        if connected == 0, let outage { return .refused(outage) }
        switch call.precedence {
        case .underWay: underWay.append(call)
        case .arriving:
            guard arriving.count < maximumWaiting, !isLineTooLong(at: call.enteredAt) else {
                turnedAway += 1
                return .refused(.saturated)
            }
            arriving.append(call)
        }
        defer { isKept = true }
        return .queued(wakesKeeper: !isKept)
    }

    /// Whether the line would take too long to reach who arrives now, or has not moved for as long.
    private func isLineTooLong(at now: ContinuousClock.Instant) -> Bool {
        if let first = arriving.first, now - first.enteredAt > longestLine { return true }
        return pace.time(for: waitingCount, by: connected) > longestLine
    }

    /// What a connected lane does next: nil means that it is idle until it is woken.
    ///
    /// `work` is how long it worked on its last call, when it just has.
    mutating func next(for lane: Int, after work: Duration?) -> (any Call)? {
        if let work { pace.note(work) }
        if let call = handed[lane] {
            handed[lane] = nil
            lanes[lane] = .leased
            served += 1
            return call
        }
        if let call = underWay.removeFirst() ?? arriving.removeFirst() {
            lanes[lane] = .leased
            served += 1
            waitedFor += (ContinuousClock.now - call.enteredAt) / .seconds(1)
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
            // It was first in line before, whoever it is.
            underWay.prepend(call)
            return nil
        }
        lanes[other] = .leased
        handed[other] = call
        return other
    }

    /// An attempt to connect failed; returns those who must not wait any longer.
    mutating func noteFailure(_ error: PostgresError) -> [any Call] {
        outage = error
        return connected == 0 ? removeAllWaiting() : []
    }

    mutating func noteEnd(_ lane: Int) {
        lanes[lane] = .ended
    }

    mutating func cancel(_ number: UInt64) -> (any Call)? {
        arriving.remove { $0.number == number } ?? underWay.remove { $0.number == number }
    }

    /// Those who have waited for too long, and when to look again (nil: when called).
    ///
    /// An empty line is watched until `keepsUntil`, so that short queues do not wake the keeper each time.
    mutating func expire(
        at now: ContinuousClock.Instant, keepsUntil: ContinuousClock.Instant?
    ) -> (expired: [any Call], next: ContinuousClock.Instant?) {
        let expired = Self.expired(in: &underWay, at: now) + Self.expired(in: &arriving, at: now)
        turnedAway += expired.count
        let first = [underWay.first?.deadline, arriving.first?.deadline].compactMap(\.self).min()
        let next = first ?? keepsUntil
        isKept = next != nil
        return (expired, next)
    }

    private static func expired(in line: inout Line<any Call>, at now: ContinuousClock.Instant) -> [any Call] {
        var expired: [any Call] = []
        while let first = line.first, first.deadline <= now {
            _ = line.removeFirst()
            expired.append(first)
        }
        return expired
    }

    private mutating func removeAllWaiting() -> [any Call] { underWay.removeAll() + arriving.removeAll() }

    /// Refuses new calls and returns those in line; leased lanes finish what they do.
    mutating func stop() -> [any Call] {
        isStopping = true
        return removeAllWaiting()
    }
}
