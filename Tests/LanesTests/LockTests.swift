import Lanes
import Testing

@Suite struct LockTests {
    @Test("However many threads change a value, no change is lost")
    func changes() async {
        let lock = Counted()
        let lanes = (0..<8).map { Lane(name: "lock-\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes {
                group.addTask {
                    await lane.run { for _ in 0..<10_000 { lock.count.withLock { $0 += 1 } } }
                }
            }
        }
        #expect(lock.count.withLock { $0 } == 80_000)
    }

    @Test("What the body throws comes out, and the lock is free again")
    func throwing() {
        struct Fault: Error {}
        let lock = Counted()
        #expect(throws: Fault.self) { try lock.count.withLock { (_) throws(Fault) in throw Fault() } }
        #expect(lock.count.withLock { $0 } == 0)
    }

    private final class Counted: Sendable {
        let count = Lock(0)
    }
}
