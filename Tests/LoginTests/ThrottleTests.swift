import Testing
import Wire

@testable import Login

@Suite struct ThrottleTests {
    private let rule = ThrottleRule(free: 4)
    private let start = Instant(microseconds: 1_800_000_000_000_000)

    private func fail(_ times: Int, apart: Duration = .seconds(1)) -> Failures? {
        (0..<times).reduce(nil) { known, step in rule.failed(after: known, at: start + apart * step) }
    }

    @Test("Four failures cost nothing")
    func free() {
        #expect(fail(4)?.blockedUntil == nil)
        #expect(fail(4)?.count == 4)
    }

    @Test(
        "From the fifth on each failure doubles the wait, up to a minute",
        arguments: [(5, 1), (6, 2), (7, 4), (10, 32), (11, 60), (12, 60), (1_000, 60)])
    func doubling(times: Int, seconds: Int) throws {
        let failures = try #require(fail(times, apart: .zero))
        #expect(failures.blockedUntil == start + .seconds(seconds))
    }

    @Test("Failures a quarter of an hour apart do not add up")
    func window() {
        #expect(fail(50, apart: .seconds(900))?.count == 1)
        #expect(fail(50, apart: .seconds(899))?.count == 50)
    }

    @Test("A clock that is set back by an hour locks nobody out, and the next failures are held up as before")
    func setBack() throws {
        let failures = try #require(fail(6, apart: .zero))
        let now = start - .seconds(3_600)
        #expect(failures.wait(at: now) == nil)
        let next = rule.failed(after: failures, at: now)
        #expect(next.wait(at: now) == 5)
        #expect(failures.wait(at: start - .milliseconds(500)) == 3, "clocks of nodes differ a little")
    }

    @Test("The wait is told in whole seconds and never as zero, and ends")
    func wait() throws {
        let failures = try #require(fail(5, apart: .zero))
        #expect(failures.wait(at: start) == 2)
        #expect(failures.wait(at: start + .milliseconds(999)) == 1)
        #expect(failures.wait(at: start + .seconds(1)) == nil)
    }
}
