import API
import Domain
import Testing
import Wire

@Suite struct RateLimitTests {
    private let start = Instant(microseconds: 1_800_000_000_000_000)

    private func rate(_ burst: Int, every interval: Duration) -> Rate {
        Rate("test", per: .account, burst: burst, every: interval)
    }

    @Test("The burst may be spent at once, the next one is refused until its time has come")
    func burst() {
        let limit = RateLimit<String>(rate(3, every: .seconds(2)))
        let spent = (0..<3).map { _ in limit.take("ada", at: start) }
        #expect(spent.map(\.retryAfter) == [nil, nil, nil])
        #expect(spent.map(\.remaining) == [2, 1, 0])
        #expect(spent.map(\.reset) == [2, 4, 6])
        let refused = limit.take("ada", at: start + .milliseconds(500))
        #expect(refused.retryAfter == 2)
        #expect(refused.remaining == 0)
        #expect(limit.take("ada", at: start + .seconds(2)).retryAfter == nil)
        #expect(limit.take("ada", at: start + .seconds(2)).retryAfter == 2)
    }

    @Test("A refusal costs nothing")
    func refusal() {
        let limit = RateLimit<String>(rate(1, every: .seconds(1)))
        #expect(limit.take("ada", at: start).retryAfter == nil)
        for _ in 0..<50 { #expect(limit.take("ada", at: start).retryAfter == 1) }
        #expect(limit.take("ada", at: start + .seconds(1)).retryAfter == nil)
    }

    @Test("One key's spending is nothing to another")
    func keys() {
        let limit = RateLimit<String>(rate(1, every: .seconds(1)))
        #expect(limit.take("ada", at: start).retryAfter == nil)
        #expect(limit.take("bob", at: start).retryAfter == nil)
        #expect(limit.take("ada", at: start).retryAfter != nil)
    }

    @Test("With as many keys under way as are kept, only the one nearest to rest is forgotten")
    func bound() {
        let limit = RateLimit<Int>(rate(2, every: .seconds(1)), keys: 2)
        _ = limit.take(1, at: start)
        _ = limit.take(2, at: start)
        _ = limit.take(2, at: start)
        _ = limit.take(3, at: start)
        #expect(limit.take(2, at: start).retryAfter == 1)
        #expect(limit.take(1, at: start).remaining == 1)
    }

    @Test("Several are spent at once or not at all, and more than there can be counts as all")
    func several() {
        let limit = RateLimit<String>(rate(3, every: .seconds(1)))
        #expect(limit.take("ada", 2, at: start).remaining == 1)
        #expect(limit.take("ada", 2, at: start).retryAfter == 1)
        #expect(limit.take("ada", at: start).retryAfter == nil)
        #expect(limit.take("bob", 100, at: start).remaining == 0)
        limit.giveBack("ada", 2)
        #expect(limit.take("ada", 2, at: start).remaining == 0)
    }

    @Test("When one of many keys has none left, nobody's are spent")
    func takeAll() {
        let limit = RateLimit<String>(rate(2, every: .seconds(1)))
        _ = limit.take("cleo", 2, at: start)
        #expect(limit.takeAll(["ada", "bob", "cleo"], at: start)?.retryAfter == 1)
        #expect(limit.takeAll(["ada", "bob"], at: start)?.remaining == 1)
    }

    @Test("A clock that is set back costs nobody more than a whole window")
    func setBack() {
        let limit = RateLimit<String>(rate(2, every: .seconds(1)))
        _ = limit.take("ada", 2, at: start + .seconds(3_600))
        #expect(limit.take("ada", at: start).retryAfter == 1)
        #expect(limit.take("ada", at: start + .seconds(1)).retryAfter == 1)
    }

    @Test("No limit is none, and half of one is half as generous")
    func scaled() {
        let none = RateLimit<String>(rate(1, every: .seconds(1)).scaled(toPercent: 0))
        for _ in 0..<5 { #expect(none.take("ada", at: start).retryAfter == nil) }
        let half = rate(10, every: .seconds(1)).scaled(toPercent: 50)
        #expect(half.burst == 5)
        #expect(half.window == 10)
    }
}
