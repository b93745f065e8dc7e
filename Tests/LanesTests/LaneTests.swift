import Dispatch
import Lanes
import Synchronization
import Testing

private struct Refusal: Error, Equatable {}

private final class Log: Sendable {
    private let state = Mutex<[Int]>([])

    var numbers: [Int] { state.withLock { $0 } }

    func append(_ number: Int) { state.withLock { $0.append(number) } }
}

/// Blocks the thread of a lane until it is opened, as a slow call would.
private struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() { _ = semaphore.wait(timeout: .now() + 60) }
}

@Suite struct LaneTests {
    @Test func `jobs run in the order in which they were posted`() async {
        let lane = Lane(name: "order")
        let log = Log()
        for number in 0..<1_000 { lane.post { log.append(number) } }
        await lane.run {}
        #expect(log.numbers == Array(0..<1_000))
        lane.stop()
    }

    @Test func `a body's value and its typed error come back`() async throws {
        let lane = Lane(name: "outcome")
        #expect(await lane.run { 7 } == 7)
        await #expect(throws: Refusal()) { try await lane.run { () throws(Refusal) in throw Refusal() } }
        lane.stop()
    }

    @Test func `stop finishes what was posted`() {
        let lane = Lane(name: "stop")
        let log = Log()
        for number in 0..<100 { lane.post { log.append(number) } }
        lane.stop()
        #expect(log.numbers.count == 100)
    }

    @Test func `a job given after stop still runs`() async {
        let lane = Lane(name: "late")
        lane.stop()
        lane.stop()
        #expect(await lane.run { 3 } == 3)
    }

    @Test func `a lane may be stopped by its own job`() async {
        let lane = Lane(name: "self")
        #expect(
            await lane.run {
                lane.stop(); return 5
            } == 5)
    }

    @Test func `a lane that is let go finishes what was posted`() async {
        let value = await withUnsafeContinuation { continuation in
            Lane(name: "gone").post { continuation.resume(returning: 9) }
        }
        #expect(value == 9)
    }
}

@Suite struct LaneGroupTests {
    /// Keeps a thread of the group at work until the gate opens; returns when it is.
    private func occupy(_ group: LaneGroup, until gate: Gate) async -> Task<Int, any Error> {
        let started = Log()
        let running = Task {
            try await group.run {
                started.append(1); gate.wait(); return 1
            }.get()
        }
        while started.numbers.isEmpty { await Task.yield() }
        return running
    }

    @Test func `a full line refuses and then takes jobs again`() async throws {
        let group = LaneGroup(name: "group", count: 1, waiting: 1)
        let gate = Gate()
        let running = await occupy(group, until: gate)
        let waiting = Task { try await group.run { 2 }.get() }
        while group.waiting == 0 { await Task.yield() }
        await #expect(throws: LaneGroup.Full.self) { try await group.run { 3 } }
        gate.open()
        #expect(try await running.value == 1)
        #expect(try await waiting.value == 2)
        #expect(try await group.run { 4 }.get() == 4)
        group.stop()
        await #expect(throws: LaneGroup.Full.self) { try await group.run { 5 } }
    }

    @Test func `a line that would take too long refuses, and keeps a part of itself for others`() async throws {
        let group = LaneGroup(name: "group", count: 1, waiting: 100, longestLine: .milliseconds(40))
        let gate = Gate()
        // From these the group knows what a job takes here.
        for _ in 0..<2 {
            _ = try await group.run {
                let end = ContinuousClock.now + .milliseconds(15)
                while ContinuousClock.now < end {}
            }
        }
        let running = await occupy(group, until: gate)
        var waiting: [Task<Int, any Error>] = []
        while group.hasRoom(), waiting.count < 100 {
            let count = waiting.count
            waiting.append(Task { try await group.run { 2 }.get() })
            while group.waiting == count { await Task.yield() }
            #expect(!group.hasRoom(share: 0.01))
        }
        #expect((1..<4).contains(waiting.count))
        await #expect(throws: LaneGroup.Full.self) { try await group.run { 3 } }
        gate.open()
        for task in waiting { #expect(try await task.value == 2) }
        #expect(try await running.value == 1)
        #expect(group.waitedFor > 0)
        group.stop()
    }

    @Test func `all threads of a group take jobs`() async throws {
        let group = LaneGroup(name: "group", count: 3, waiting: 10)
        let gate = Gate()
        let started = Log()
        let tasks = (0..<3).map { number in
            Task {
                try await group.run {
                    started.append(number); gate.wait()
                }.get()
            }
        }
        while started.numbers.count < 3 { await Task.yield() }
        for _ in tasks { gate.open() }
        for task in tasks { try await task.value }
        #expect(started.numbers.sorted() == [0, 1, 2])
        group.stop()
    }

    @Test func `a body's own error is told apart from a full line`() async throws {
        let group = LaneGroup(name: "group", count: 1, waiting: 1)
        let outcome = try await group.run { () throws(Refusal) -> Int in throw Refusal() }
        #expect(outcome == .failure(Refusal()))
        group.stop()
    }
}

@Suite struct LineTests {
    @Test(arguments: [1, 2, 3, 4]) func `a line behaves as an array would`(_ seed: UInt64) {
        var line = Line<Int>()
        var model: [Int] = []
        var random = seed
        for step in 0..<5_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            switch (random >> 33) % 8 {
            case 0...3:
                line.append(step)
                model.append(step)
            case 4:
                line.prepend(step)
                model.insert(step, at: 0)
            case 5:
                let wanted = model.isEmpty ? -1 : model[Int(random >> 40) % model.count]
                #expect(line.remove { $0 == wanted } == model.firstIndex(of: wanted).map { model.remove(at: $0) })
            default:
                #expect(line.removeFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(line.count == model.count)
            #expect(line.first == model.first)
        }
        #expect(line.removeAll() == model)
        #expect(line.isEmpty)
    }
}
