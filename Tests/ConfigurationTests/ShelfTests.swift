import Domain
import Lanes
import Synchronization
import Testing

@testable import Configuration

@Suite struct ShelfTests {
    @Test("However many ask at once, a value is loaded once")
    func once() async throws {
        let shelf = Shelf<String, Int>(maximumAge: nil, capacity: 10)
        let source = Source()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await shelf.value(for: "a", source.load) } }
            await source.began()
            source.finish(with: .success(7))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 7, count: 50))
        #expect(source.loads == 1)
        #expect(shelf.held(for: "a") == 7)
    }

    @Test("A failed load fails whoever waits for it, and the next one tries again")
    func failure() async throws {
        let shelf = Shelf<String, Int>(maximumAge: nil, capacity: 10)
        let source = Source()
        let first = Task { try await shelf.value(for: "a", source.load) }
        await source.began()
        source.finish(with: .failure(.unavailable(cause: "test")))
        await #expect(throws: Failure.self) { try await first.value }
        #expect(shelf.held(for: "a") == nil)
        #expect(try await shelf.value(for: "a") { () async throws(Failure) in 3 } == 3)
    }

    @Test("However many ask for the newest, one load runs at a time, and those who wait share the next")
    func newest() async throws {
        let shelf = Shelf<String, Int>(maximumAge: nil, capacity: 10)
        let loads = Loads()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await shelf.loaded(for: "a") { () async throws(Failure) in
                        let number = loads.begin()
                        for _ in 0..<200 { await Task.yield() }
                        loads.end()
                        return number
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values.count == 50)
        #expect(loads.atOnce == 1)
        #expect(loads.all < 50)
        let last = try await shelf.loaded(for: "a") { () async throws(Failure) in 99 }
        #expect(last == 99)
    }

    @Test("A load that began before a value was forgotten does not bring it back")
    func forget() async throws {
        let shelf = Shelf<String, Int>(maximumAge: nil, capacity: 10)
        let source = Source()
        let early = Task { try await shelf.value(for: "a", source.load) }
        await source.began()
        shelf.forget("a")
        // Does not wait for the early load, which may have read what was true before.
        #expect(try await shelf.value(for: "a") { () async throws(Failure) in 2 } == 2)
        source.finish(with: .success(1))
        #expect(try await early.value == 1)
        #expect(shelf.held(for: "a") == 2)
    }

    @Test("A value that was forgotten is nowhere, whichever thread had a copy of it")
    func copies() async throws {
        let shelf = Shelf<String, Int>(maximumAge: nil, capacity: 10)
        let lanes = (0..<8).map { Lane(name: "reader-\($0)") }
        for round in 1...50 {
            _ = try await shelf.value(for: "a") { () async throws(Failure) in round }
            for lane in lanes { #expect(await lane.run { shelf.held(for: "a") } == round) }
            shelf.forget("a")
            for lane in lanes { #expect(await lane.run { shelf.held(for: "a") } == nil) }
        }
    }

    @Test("A value that is too old is loaded again")
    func age() async throws {
        let shelf = Shelf<String, Int>(maximumAge: .zero, capacity: 10)
        #expect(try await shelf.value(for: "a") { () async throws(Failure) in 1 } == 1)
        #expect(try await shelf.value(for: "a") { () async throws(Failure) in 2 } == 2)
    }

    @Test("When the shelf is full the longest unused goes")
    func capacity() async throws {
        let shelf = Shelf<Int, Int>(maximumAge: nil, capacity: 2)
        for key in 1...2 { _ = try await shelf.value(for: key) { () async throws(Failure) in key } }
        #expect(shelf.held(for: 1) == 1)
        _ = try await shelf.value(for: 3) { () async throws(Failure) in 3 }
        #expect((1...3).map { shelf.held(for: $0) != nil } == [true, false, true])
    }

    @Test("A check drops what is outdated and what nobody used")
    func check() async throws {
        let shelf = Shelf<String, Int>(maximumAge: .seconds(60), capacity: 10)
        for (key, value) in ["a": 1, "b": 2] {
            _ = try await shelf.value(for: key) { () async throws(Failure) in value }
        }
        try await shelf.check(usedWithin: .seconds(60)) { used throws(Failure) in
            Set(used.filter { $0.value == 1 }.keys)
        }
        #expect(shelf.held(for: "a") == 1)
        #expect(shelf.held(for: "b") == nil)
        try await shelf.check(usedWithin: .zero) { used throws(Failure) in Set(used.keys) }
        #expect(shelf.held(for: "a") == nil)
    }
}

/// A load that the test ends when it likes.
private final class Source: Sendable {
    private struct State {
        var loads = 0
        var ending: CheckedContinuation<Result<Int, Failure>, Never>?
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var loads: Int { state.withLock { $0.loads } }

    func load() async throws(Failure) -> Int {
        let result = await withCheckedContinuation { continuation in
            let watcher = state.withLock { state in
                state.loads += 1
                state.ending = continuation
                defer { state.watcher = nil }
                return state.watcher
            }
            watcher?.resume()
        }
        return try result.get()
    }

    /// Waits until a load has begun.
    func began() async {
        await withCheckedContinuation { continuation in
            let hasBegun = state.withLock { state in
                if state.ending == nil { state.watcher = continuation }
                return state.ending != nil
            }
            if hasBegun { continuation.resume() }
        }
    }

    func finish(with result: Result<Int, Failure>) {
        let ending = state.withLock { state in
            defer { state.ending = nil }
            return state.ending
        }
        ending?.resume(returning: result)
    }
}

/// Counts loads, and how many ran at once.
private final class Loads: Sendable {
    private let state = Mutex((running: 0, most: 0, all: 0))

    var atOnce: Int { state.withLock { $0.most } }
    var all: Int { state.withLock { $0.all } }

    func begin() -> Int {
        state.withLock { state in
            state.running += 1
            state.all += 1
            state.most = max(state.most, state.running)
            return state.all
        }
    }

    func end() { state.withLock { $0.running -= 1 } }
}
