import Domain
import Lanes

/// Values that this node has read, each loaded once at a time however many ask for it.
///
/// Loads are numbered in the order they began. A value is kept only when its load began after the last `forget`, and
/// after the load of what it would replace; whoever asked before a `forget` may still get what was true before it.
///
/// All devices of an app ask for the same value, so threads have copies of it: made, and taken back, under the one lock.
final class Shelf<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, Failure>?, Never>
    private typealias Follower = CheckedContinuation<Turn, Never>
    private typealias Time = ContinuousClock.Instant

    private struct Entry {
        let value: Value
        let load: UInt64
        var checkedAt: Time
        var usedAt: Time
    }

    private struct State {
        var lastNumber: UInt64 = 0
        var forgottenAt: UInt64 = 0
        var entries: [Key: Entry] = [:]
        var newest: [Key: UInt64] = [:]
        var waiters: [UInt64: [Waiter]] = [:]
        /// Who waits for a load that has not begun yet, behind the one of that key that is under way.
        var following: [Key: [Follower]] = [:]

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// What becomes of a follower when the load before it has ended.
    private enum Turn: Sendable {
        /// It loads for itself and for those who came after it.
        case lead([Follower])
        case result(Result<Value, Failure>)
    }

    private enum Step {
        case held(Value)
        case wait(UInt64)
        case load(UInt64)
    }

    private struct Copy {
        let value: Value
        let until: Time
    }

    /// So often at least a value in use goes past the lock, which is where its use is noted.
    private static var longestCopy: Duration { .milliseconds(100) }

    private let maximumAge: Duration?
    private let capacity: Int
    private let state = Lock(State())
    private let copies = Shards<[Key: Copy]> { [:] }

    /// - Parameters:
    ///   - maximumAge: how long a value is believed without being checked; `nil` for values that never change.
    ///   - capacity: how many values are kept; beyond it the longest unused goes.
    init(maximumAge: Duration?, capacity: Int) {
        self.maximumAge = maximumAge
        self.capacity = capacity
    }

    /// The value, when it is here and young enough.
    func held(for key: Key) -> Value? {
        let now = Time.now
        if let copy = copies.withLockOfThread({ $0[key] }), now < copy.until { return copy.value }
        return state.withLock { state in
            guard let value = held(key, &state, now) else { return nil }
            copy(value, for: key, until: state.entries[key]?.checkedAt, now)
            return value
        }
    }

    private func copy(_ value: Value, for key: Key, until checkedAt: Time?, _ now: Time) {
        var until = now + Self.longestCopy
        if let checkedAt, let maximumAge { until = min(until, checkedAt + maximumAge) }
        copies.withLockOfThread { $0[key] = Copy(value: value, until: until) }
    }

    /// Takes a value off the shelf, copies included.
    private func drop(_ key: Key, _ state: inout State) {
        state.entries[key] = nil
        copies.withEach { $0[key] = nil }
    }

    /// The value from here, from a load that is under way, or from a load of its own.
    func value(
        for key: Key, _ load: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        while true {
            switch next(key) {
            case .held(let value): return value
            case .load(let number): return try await finish(number, key, load)
            case .wait(let number):
                if let result = await wait(for: number) { return try result.get() }
            }
        }
    }

    /// The value from a load that begins now, or as soon as the one under way has ended: then all who asked meanwhile
    /// share the next.
    func loaded(
        for key: Key, _ load: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let sharers: [Follower]
        switch await turn(key) {
        case .result(let result): return try result.get()
        case .lead(let others): sharers = others
        }
        let number = state.withLock { $0.nextNumber() }
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try await finish(number, key, load))
        } catch {
            result = .failure(error)
        }
        for sharer in sharers { sharer.resume(returning: .result(result)) }
        passTurn(key)
        return try result.get()
    }

    private func turn(_ key: Key) async -> Turn {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                guard state.following[key] != nil else {
                    state.following[key] = []
                    return true
                }
                state.following[key]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume(returning: .lead([])) }
        }
    }

    private func passTurn(_ key: Key) {
        let waiting = state.withLock { state in
            let waiting = state.following[key] ?? []
            state.following[key] = waiting.isEmpty ? nil : []
            return waiting
        }
        waiting.first?.resume(returning: .lead(Array(waiting.dropFirst())))
    }

    /// Drops a value; no load that has begun already brings it back.
    func forget(_ key: Key) {
        state.withLock { state in
            state.forgottenAt = state.nextNumber()
            drop(key, &state)
        }
    }

    /// Checks the values that were used lately; those found outdated, and those unused, are dropped.
    ///
    /// `isCurrent` says which of the values are still right; it reads that when it is called.
    func check(
        usedWithin period: Duration, _ isCurrent: ([Key: Value]) async throws(Failure) -> Set<Key>
    ) async throws(Failure) {
        let start = Time.now
        let (number, used) = state.withLock { state in
            for (key, entry) in state.entries where entry.usedAt.duration(to: start) >= period { drop(key, &state) }
            return (state.nextNumber(), state.entries.mapValues(\.value))
        }
        guard !used.isEmpty else { return }
        let current = try await isCurrent(used)
        state.withLock { state in
            for key in used.keys {
                guard let entry = state.entries[key], entry.load < number else { continue }
                if current.contains(key) {
                    state.entries[key]?.checkedAt = start
                } else {
                    drop(key, &state)
                }
            }
        }
    }

    private func next(_ key: Key) -> Step {
        let now = Time.now
        return state.withLock { state in
            if let value = held(key, &state, now) { return .held(value) }
            if let number = state.newest[key], number > state.forgottenAt { return .wait(number) }
            let number = state.nextNumber()
            state.newest[key] = number
            state.waiters[number] = []
            return .load(number)
        }
    }

    private func held(_ key: Key, _ state: inout State, _ now: Time) -> Value? {
        guard let entry = state.entries[key] else { return nil }
        if let maximumAge, entry.checkedAt.duration(to: now) > maximumAge { return nil }
        state.entries[key]?.usedAt = now
        return entry.value
    }

    /// The result of a load, or `nil` when it has ended meanwhile.
    private func wait(for number: UInt64) async -> Result<Value, Failure>? {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                state.waiters[number]?.append(continuation) != nil
            }
            if !isWaiting { continuation.resume(returning: nil) }
        }
    }

    private func finish(
        _ number: UInt64, _ key: Key, _ load: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let start = Time.now
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try await load())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            if case .success(let value) = result { keep(value, key, number, start, &state) }
            if state.newest[key] == number { state.newest[key] = nil }
            return state.waiters.removeValue(forKey: number) ?? []
        }
        for waiter in waiters { waiter.resume(returning: result) }
        return try result.get()
    }

    private func keep(_ value: Value, _ key: Key, _ number: UInt64, _ start: Time, _ state: inout State) {
        guard number > state.forgottenAt, number > state.entries[key]?.load ?? 0 else { return }
        if state.entries.count >= capacity, state.entries[key] == nil,
            let oldest = state.entries.min(by: { $0.value.usedAt < $1.value.usedAt })
        {
            drop(oldest.key, &state)
        }
        drop(key, &state)
        state.entries[key] = Entry(value: value, load: number, checkedAt: start, usedAt: .now)
    }
}
