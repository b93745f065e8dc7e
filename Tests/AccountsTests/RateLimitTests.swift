import API
import Testing
import Wire

@Suite struct RateLimitTests {
    private let start = Instant(microseconds: 1_800_000_000_000_000)

    @Test("The burst may be spent at once, the next one is refused until its time has come")
    func burst() {
        let limit = RateLimit<String>(burst: 3, every: .seconds(2))
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
        let limit = RateLimit<String>(burst: 1, every: .seconds(1))
        #expect(limit.take("ada", at: start).retryAfter == nil)
        for _ in 0..<50 { #expect(limit.take("ada", at: start).retryAfter == 1) }
        #expect(limit.take("ada", at: start + .seconds(1)).retryAfter == nil)
    }

    @Test("One key's spending is nothing to another")
    func keys() {
        let limit = RateLimit<String>(burst: 1, every: .seconds(1))
        #expect(limit.take("ada", at: start).retryAfter == nil)
        #expect(limit.take("bob", at: start).retryAfter == nil)
        #expect(limit.take("ada", at: start).retryAfter != nil)
    }

    @Test("With as many keys under way as are kept, only the one nearest to rest is forgotten")
    func bound() {
        let limit = RateLimit<Int>(burst: 2, every: .seconds(1), keys: 2)
        _ = limit.take(1, at: start)
        _ = limit.take(2, at: start)
        _ = limit.take(2, at: start)
        _ = limit.take(3, at: start)
        #expect(limit.take(2, at: start).retryAfter == 1)
        #expect(limit.take(1, at: start).remaining == 1)
    }
}
