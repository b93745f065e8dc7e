internal import Lanes
internal import Synchronization

/// Connections to one database, each on its own thread, lent to one closure at a time in the order of asking.
///
/// While no lane is connected and connecting has failed, lending fails at once with `.unavailable`; lanes connect again by
/// themselves. A started pool lives until `stop`.
public final class Pool: Sendable {
    private struct Life {
        var isStarted = false
        var isOver = false
        var stopping: [UnsafeContinuation<Void, Never>] = []
    }

    private let settings: Settings
    private let opening: Opening
    private let state: Lock<PoolState>
    private let life = Mutex(Life())
    private let wakeUps: [WakeUp]
    private let lifelines: [Lifeline]
    private let keeper: WakeUp
    private let watch: Watch
    private let stopsAt = Mutex<ContinuousClock.Instant?>(nil)
    private let calls = Atomic<UInt64>(0)
    private let generations = Atomic<Int>(0)

    public init(_ settings: Settings) {
        let lanes = max(1, settings.lanes)
        self.settings = settings
        opening = Opening(settings)
        state = Lock(
            PoolState(lanes: lanes, maximumWaiting: settings.maximumWaiting, longestLine: settings.longestLine))
        wakeUps = (0..<lanes).map { _ in WakeUp() }
        let keeper = WakeUp()
        let watch = Watch(keeper: keeper)
        self.keeper = keeper
        self.watch = watch
        lifelines = (0..<lanes).map { _ in Lifeline(watch: watch) }
    }

    public var figures: Figures {
        state.withLock {
            Figures(
                lanes: wakeUps.count, connected: $0.connected, leased: $0.leased, waiting: $0.waitingCount,
                turnedAway: $0.turnedAway, waitedFor: $0.waitedFor, served: $0.served)
        }
    }

    /// Starts the lanes; calls made before the first of them is connected wait for it.
    public func start() {
        let isFirst = life.withLock { life in
            defer { life.isStarted = true }
            return !life.isStarted
        }
        guard isFirst else { return }
        for (number, wakeUp) in wakeUps.enumerated() {
            let lane = PoolLane(number: number, pool: self, wakeUp: wakeUp, lifeline: lifelines[number])
            guard let thread = Thread(named: "postgres-\(number)", { lane.live() }) else {
                laneFailed(.unavailable(reason: "no thread for a connection"))
                laneEnded(number)
                continue
            }
            thread.detach()
        }
        Thread(named: "postgres-keeper") { [self] in keep() }?.detach()
    }

    /// Runs the closure on the thread of a free connection and returns its value.
    ///
    /// A line that would take too long to reach an arriving call refuses it at once (`.saturated`), rather than late.
    /// Throws when it has not been run (`.unavailable`, `.saturated`, `.cancelled`), and `.misuse` when it left a
    /// transaction open, which is then rolled back. Cancelling the task ends the wait, not a closure that runs.
    public func lend<R: Sendable>(
        _ precedence: Precedence = .arriving, _ body: @escaping @Sendable (borrowing Connection) -> R
    ) async throws(PostgresError) -> R {
        try await wait { number, continuation in
            let call = Lending(
                number: number, precedence: precedence, waitFor: settings.waitFor, body: body,
                continuation: continuation)
            place(call, state.withLock { $0.place(call) })
        }
    }

    /// Asks one statement that only reads and returns its rows; what others ask at the same time travels with it.
    ///
    /// For statements that take microseconds: the answers of those asked together come together. An error is only of the
    /// statement that failed. Throws as `lend` does, and what the server says.
    public func ask<T: Sendable>(
        _ sql: SQL, _ decode: @escaping @Sendable (borrowing Row) throws(PostgresError) -> T
    ) async throws(PostgresError) -> [T] {
        try await wait { number, continuation in
            let question = Asking(
                number: number, waitFor: settings.waitFor, sql: sql, decode: decode, continuation: continuation)
            place(question, state.withLock { $0.place(question) })
        }
    }

    private func wait<R: Sendable>(
        _ begin: (_ number: UInt64, UnsafeContinuation<Result<R, PostgresError>, Never>) -> Void
    ) async throws(PostgresError) -> R {
        let number = calls.wrappingAdd(1, ordering: .relaxed).newValue
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                begin(number, continuation)
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    /// Refuses new calls and those in line, lets running ones finish, and closes the connections.
    ///
    /// What still runs after the grace loses its connection.
    public func stop(grace: Duration = .seconds(5)) async {
        stopsAt.withLock { $0 = $0 ?? ContinuousClock.now + grace }
        for call in state.withLock({ $0.stop() }) { call.refuse(.unavailable(reason: "the pool is stopped")) }
        for wakeUp in wakeUps { wakeUp.call() }
        keeper.call()
        await withUnsafeContinuation { continuation in
            let isOver = life.withLock { life in
                guard life.isStarted, !life.isOver else { return true }
                life.stopping.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

// MARK: What the lanes do

extension Pool {
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func connect(_ lifeline: Lifeline) throws(PostgresError) -> Session {
        let pipeline = try opening.openPipeline(statements: settings.statements, lifeline: lifeline)
        return Session(pipeline, generation: generations.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// What the lane does next; `served` is how long it worked on each call before.
    func nextWork(for lane: Int, after served: Duration?) -> Work? {
        var served = served
        while let work = state.withLock({ $0.next(for: lane, after: served) }) {
            if let wanted = work.stillWanted() { return wanted }
            served = nil
        }
        return nil
    }

    func laneConnected(_ lane: Int) {
        state.withLock { $0.noteConnected(lane) }
    }

    func laneLost(_ lane: Int) {
        let (other, refused) = state.withLock { $0.noteLost(lane) }
        if let other { wakeUps[other].call() }
        refused?.refuse(.unavailable(reason: "the pool is stopped"))
        // Who is left in line may have been on the way to a lane, where nobody watches for how long.
        keeper.call()
    }

    func laneFailed(_ error: PostgresError) {
        for call in state.withLock({ $0.noteFailure(error) }) { call.refuse(error) }
    }

    func laneEnded(_ lane: Int) {
        let isLast = state.withLock { state in
            state.noteEnd(lane)
            return state.hasEnded
        }
        guard isLast else { return }
        let waiting = life.withLock { life in
            life.isOver = true
            defer { life.stopping = [] }
            return life.stopping
        }
        keeper.call()
        for continuation in waiting { continuation.resume() }
    }
}

// MARK: Waiting

extension Pool {
    private func place(_ call: any Call, _ placement: PoolState.Placement) {
        switch placement {
        case .handed(let lane): wakeUps[lane].call()
        case .queued(let wakesKeeper): if wakesKeeper { keeper.call() }
        case .refused(let error): call.refuse(error)
        }
    }

    private func cancel(_ number: UInt64) {
        state.withLock { $0.cancel(number) }?.refuse(.cancelled)
    }

    /// Ends waits for a lane or for PostgreSQL that last too long and, after the grace of a stop, whatever still runs.
    private func keep() {
        var wakeAt: ContinuousClock.Instant?
        var lookingAt: ContinuousClock.Instant?
        while !life.withLock({ $0.isOver }) {
            let reason = keeper.wait(for: wakeAt.map { $0 - ContinuousClock.now })
            let now = ContinuousClock.now
            let (expired, lane, next) = state.withLock {
                $0.look(at: now, keepsUntil: reason.isCalled ? now + settings.waitFor : nil)
            }
            for call in expired { call.refuse(.saturated) }
            if let lane { wakeUps[lane].call() }
            if let limit = settings.answerWithin {
                watch.cutOverdue(lifelines, limit: limit, lookingAt: &lookingAt)
            }
            wakeAt = [next, lookingAt, cutAfterGrace(at: now)].compactMap(\.self).min()
        }
    }

    /// Nil unless the pool is stopping; then, when to look again.
    private func cutAfterGrace(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let end = stopsAt.withLock({ $0 }) else { return nil }
        guard end <= now else { return end }
        for lifeline in lifelines { lifeline.cut() }
        return now + .milliseconds(500)
    }
}
