import Lanes
import Synchronization
import Testing

private final class Count: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }

    func add() { number.add(1, ordering: .relaxed) }
}

/// Counts its end, which comes with that of the last piece of work that holds it.
private final class Held: Sendable {
    private let ends: Count

    init(_ ends: Count) { self.ends = ends }

    deinit { ends.add() }
}

@Suite struct RunnersTests {
    @Test func `what many threads bring at once is all run, each piece once`() async {
        let runners = Runners(keeping: 3)
        let (numbers, done) = AsyncStream.makeStream(of: Int.self)
        let lanes = (0..<4).map { Lane(name: "bringer-\($0)") }
        for (number, lane) in lanes.enumerated() {
            lane.post {
                for step in 0..<500 {
                    runners.run {
                        if step % 3 == 0 { await Task.yield() }
                        done.yield(number * 500 + step)
                    }
                }
            }
        }
        var seen: [Int] = []
        for await number in numbers {
            seen.append(number)
            if seen.count == 2_000 { break }
        }
        #expect(seen.sorted() == Array(0..<2_000))
        for lane in lanes { lane.stop() }
    }

    @Test func `work begins on the thread that brings it, before run returns`() {
        let runners = Runners()
        let count = Count()
        for number in 1...10 {
            runners.run { count.add() }
            #expect(count.value == number)
        }
    }

    @Test func `a task that rests holds nothing of what it ran, the first piece or a later one`() {
        let runners = Runners()
        let ended = Count()
        for count in 1...3 {
            runners.run { [held = Held(ended)] in _ = held }
            #expect(ended.value == count)
        }
    }
}
