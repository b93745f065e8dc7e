internal import Lanes

/// Who waits, which lane is free and whether the server can be reached: the decisions of a pool, without any waiting.
struct PoolState {
    enum Placement {
        /// An idle lane got the call and has to be woken.
        case handed(lane: Int)
        /// In line; the keeper has to be woken when it would look too late.
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
    private var questions = Line<any Question>()
    /// Of calls, each on its lane.
    private var pace = Pace()
    private(set) var turnedAway = 0
    private(set) var waitedFor = 0.0
    private(set) var served = 0
    private var lanes: [LaneState]
    private var handed: [(any Call)?]
    /// Lanes that ask questions, or were woken to.
    private var asking: Set<Int> = []
    // The lane that was busy last is the first to be used again: its caches are warm.
    private var idle: [Int] = []
    /// Why nobody could connect; nil as long as that is not known.
    private var outage: PostgresError?
    /// When the keeper will look at the line by itself.
    private var looksAt: ContinuousClock.Instant?
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
    var waitingCount: Int { arriving.count + underWay.count + questions.count }

    /// Questions that travel together.
    private static let batch = 16
    /// A lane that asks and is not back by then may be held up: the next question wakes another.
    private static let patience = Duration.milliseconds(2)
    /// By then another is woken without a next one.
    private static let longPatience = Duration.milliseconds(20)

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
            guard arriving.count < maximumWaiting, !isLineTooLong(at: call.enteredAt) else { return turnAway() }
            arriving.append(call)
        }
        return queued(lookingAt: call.deadline)
    }

    /// Places a question, which the next lane that asks takes along: a lane is woken for it only when none is on its way.
    ///
    /// Few lanes that carry much are cheaper than many that carry one each, for this side and for the server.
    mutating func place(_ question: any Question) -> Placement {
        guard !isStopping else { return .refused(.unavailable(reason: "the pool is stopped")) }
        if connected == 0, let outage { return .refused(outage) }
        if needsAsker(at: question.enteredAt), let lane = wakeAsker() {
            questions.append(question)
            return .handed(lane: lane)
        }
        guard questions.count < maximumWaiting, !isLineTooLong(at: question.enteredAt) else { return turnAway() }
        questions.append(question)
        return queued(lookingAt: idle.isEmpty ? question.deadline : question.enteredAt + Self.longPatience)
    }

    /// Whether those who ask already cannot take one more along, or stay away.
    private func needsAsker(at now: ContinuousClock.Instant) -> Bool {
        if questions.count >= asking.count * Self.batch { return true }
        return questions.first.map { now - $0.enteredAt > Self.patience } ?? false
    }

    private mutating func wakeAsker() -> Int? {
        guard let lane = idle.popLast() else { return nil }
        lanes[lane] = .leased
        asking.insert(lane)
        return lane
    }

    private mutating func turnAway() -> Placement {
        turnedAway += 1
        return .refused(.saturated)
    }

    private mutating func queued(lookingAt instant: ContinuousClock.Instant) -> Placement {
        let isInTime = looksAt.map { $0 <= instant } ?? false
        if !isInTime { looksAt = instant }
        return .queued(wakesKeeper: !isInTime)
    }

    /// Whether the line would take too long to reach who arrives now, or has not moved for as long.
    private func isLineTooLong(at now: ContinuousClock.Instant) -> Bool {
        let entered = [arriving.first?.enteredAt, questions.first?.enteredAt].compactMap(\.self).min()
        if let entered, now - entered > longestLine { return true }
        return pace.time(for: waitingCount, by: connected) > longestLine
    }

    /// What a connected lane does next: nil means that it is idle until it is woken.
    ///
    /// `work` is how long it worked on each of its last calls, when it just has.
    mutating func next(for lane: Int, after work: Duration?) -> Work? {
        if let work { pace.note(work) }
        asking.remove(lane)
        if let call = handed[lane] {
            handed[lane] = nil
            lanes[lane] = .leased
            served += 1
            return .call(call)
        }
        if let work = nextInLine() {
            lanes[lane] = .leased
            if case .questions = work { asking.insert(lane) }
            noteServed(work, at: .now)
            return work
        }
        if lanes[lane] != .idle {
            lanes[lane] = .idle
            idle.append(lane)
        }
        return nil
    }

    private mutating func nextInLine() -> Work? {
        if let call = underWay.removeFirst() { return .call(call) }
        if let question = questions.first, question.enteredAt <= arriving.first?.enteredAt ?? question.enteredAt {
            var together: [any Question] = []
            while together.count < Self.batch, let next = questions.removeFirst() { together.append(next) }
            return .questions(together)
        }
        return arriving.removeFirst().map { .call($0) }
    }

    private mutating func noteServed(_ work: Work, at now: ContinuousClock.Instant) {
        served += work.count
        waitedFor += work.waited(until: now) / .seconds(1)
    }

    mutating func noteConnected(_ lane: Int) {
        outage = nil
        lanes[lane] = .leased
    }

    /// The lane has lost its connection; what it was woken for and has not begun goes to another, returned to be woken.
    ///
    /// Of a pool that stops no other would take it: then it is returned to be refused.
    mutating func noteLost(_ lane: Int) -> (wakes: Int?, refused: (any Call)?) {
        lanes[lane] = .connecting
        idle.removeAll { $0 == lane }
        asking.remove(lane)
        guard let call = handed[lane] else {
            return (asking.isEmpty && !questions.isEmpty ? wakeAsker() : nil, nil)
        }
        handed[lane] = nil
        guard !isStopping else { return (nil, call) }
        guard let other = idle.popLast() else {
            // It was first in line before, whoever it is.
            underWay.prepend(call)
            return (nil, nil)
        }
        lanes[other] = .leased
        handed[other] = call
        return (other, nil)
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
            ?? questions.remove { $0.number == number }
    }

    /// Those who have waited for too long, a lane to be woken for questions that nobody comes for, and when to look again
    /// (nil: when called).
    ///
    /// An empty line is watched until `keepsUntil`, so that short queues do not wake the keeper each time.
    mutating func look(
        at now: ContinuousClock.Instant, keepsUntil: ContinuousClock.Instant?
    ) -> (expired: [any Call], wakes: Int?, next: ContinuousClock.Instant?) {
        let expired: [any Call] =
            Self.expired(in: &underWay, at: now) { $0.deadline } + Self.expired(in: &arriving, at: now) { $0.deadline }
            + Self.expired(in: &questions, at: now) { $0.deadline }
        turnedAway += expired.count
        let isForgotten = questions.first.map { now - $0.enteredAt >= Self.longPatience } ?? false
        let lane = isForgotten ? wakeAsker() : nil
        let forgotten = idle.isEmpty || questions.isEmpty ? nil : now + Self.longPatience
        let first = [underWay.first?.deadline, arriving.first?.deadline, questions.first?.deadline, forgotten]
            .compactMap(\.self).min()
        looksAt = first ?? keepsUntil
        return (expired, lane, looksAt)
    }

    private static func expired<C>(
        in line: inout Line<C>, at now: ContinuousClock.Instant, deadline: (C) -> ContinuousClock.Instant
    ) -> [C] {
        var expired: [C] = []
        while let first = line.first, deadline(first) <= now {
            _ = line.removeFirst()
            expired.append(first)
        }
        return expired
    }

    private mutating func removeAllWaiting() -> [any Call] {
        underWay.removeAll() + arriving.removeAll() + questions.removeAll()
    }

    /// Refuses new calls and returns those in line; leased lanes finish what they do.
    mutating func stop() -> [any Call] {
        isStopping = true
        return removeAllWaiting()
    }
}
