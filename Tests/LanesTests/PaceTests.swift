import Lanes
import Testing

@Suite struct PaceTests {
    @Test func `one piece that takes long, the first or a later one, says nothing`() {
        var pace = Pace()
        pace.note(.seconds(2))
        #expect(pace.time(for: 100, by: 1) == .zero)
        for _ in 0..<3 {
            pace.note(.milliseconds(4))
            pace.note(.seconds(2))
        }
        #expect(pace.time(for: 8, by: 4) == .milliseconds(8))
    }

    @Test func `what keeps taking long is known with the second piece, and forgotten after some`() {
        var pace = Pace()
        for _ in 0..<2 { pace.note(.seconds(2)) }
        #expect(pace.time(for: 8, by: 8) == .seconds(2))
        for _ in 0..<64 { pace.note(.milliseconds(1)) }
        #expect(pace.time(for: 8, by: 8) < .milliseconds(2))
    }
}
