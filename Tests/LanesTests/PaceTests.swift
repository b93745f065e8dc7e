import Lanes
import Testing

@Suite struct PaceTests {
    @Test func `one piece that takes long, the first or a later one, says little`() {
        var pace = Pace()
        pace.note(.seconds(2))
        #expect(pace.time(for: 1, by: 1) == .milliseconds(1))
        var busy = Pace()
        for _ in 0..<100 { busy.note(.milliseconds(4)) }
        #expect((.milliseconds(3)...(.milliseconds(4))).contains(busy.time(for: 1, by: 1)))
        busy.note(.seconds(2))
        #expect(busy.time(for: 1, by: 1) < .milliseconds(9))
    }

    @Test func `what keeps taking long is known after some pieces, and forgotten after some`() {
        var pace = Pace()
        for _ in 0..<16 { pace.note(.seconds(2)) }
        #expect(pace.time(for: 8, by: 8) > .seconds(1))
        for _ in 0..<64 { pace.note(.milliseconds(1)) }
        #expect(pace.time(for: 8, by: 8) < .milliseconds(2))
    }
}
