public import Domain
public import HTTP
import Lanes
public import Wire

/// A rate, counted for each key on this node alone.
///
/// Instead of a number of tokens each key has the instant at which it will have all of them again, so that a key at rest
/// costs nothing and can be forgotten. With `keys` of them under way, those that would be forgotten first make room.
public final class RateLimit<Key: Hashable & Sendable>: Sendable {
    public let rate: Rate
    /// Of one shard.
    private let bound: Int
    private let shards: Shards<[Key: Instant]>

    public init(_ rate: Rate, keys bound: Int = 10_000) {
        self.rate = rate
        // Few keys would be shared out unevenly.
        let shards = bound < 1_000 ? 1 : 16
        self.bound = bound / shards
        self.shards = Shards(shards) { [:] }
    }

    /// Spends some of the key's, when it has them; more than there can ever be counts as all there are.
    public func take(_ key: Key, _ count: Int = 1, at now: Instant) -> RateStanding {
        guard rate.isLimited else { return RateStanding(rate: rate, remaining: rate.burst, reset: 0, retryAfter: nil) }
        return shards.withLock(for: key) { take(key, count, &$0, now) }
    }

    /// Spends one of each key's, and gives all back when one of them has none; returns how the worst off stands.
    ///
    /// Who asks between the two may be refused for what is given back: never too much is granted.
    public func takeAll(_ keys: [Key], at now: Instant) -> RateStanding? {
        guard rate.isLimited else { return nil }
        var worst: RateStanding?
        for (index, key) in keys.enumerated() {
            let standing = take(key, at: now)
            guard standing.retryAfter == nil else {
                for spent in keys.prefix(index) { giveBack(spent, 1) }
                return standing
            }
            if standing.remaining < worst?.remaining ?? .max { worst = standing }
        }
        return worst
    }

    /// The same as `take`, as a failure when there are none left.
    @discardableResult
    public func spend(
        _ key: Key, _ count: Int = 1, at now: Instant, else detail: StaticString
    ) throws(Failure) -> RateStanding {
        let standing = take(key, count, at: now)
        guard let seconds = standing.retryAfter else { return standing }
        throw .limited(retryAfter: seconds, detail, by: standing)
    }

    /// Takes back what was spent on something that another limit refused.
    public func giveBack(_ key: Key, _ count: Int) {
        shards.withLock(for: key) { fullAt in
            guard let known = fullAt[key] else { return }
            fullAt[key] = known - rate.interval * min(count, rate.burst)
        }
    }

    private func take(_ key: Key, _ count: Int, _ fullAt: inout [Key: Instant], _ now: Instant) -> RateStanding {
        let known = fullAt[key]
        // Never further off than an empty key's, even when the clock was set back meanwhile.
        let current = min(max(known ?? now, now), now + rate.interval * rate.burst)
        let next = current + rate.interval * min(count, rate.burst)
        let excess = next.duration(since: now) - rate.interval * rate.burst
        guard excess <= .zero else { return standing(fullAt: current, now, retryAfter: excess) }
        if known == nil { makeRoom(in: &fullAt, now) }
        fullAt[key] = next
        return standing(fullAt: next, now, retryAfter: nil)
    }

    private func standing(fullAt: Instant, _ now: Instant, retryAfter: Duration?) -> RateStanding {
        let missing = fullAt.duration(since: now)
        return RateStanding(
            rate: rate, remaining: Int((rate.interval * rate.burst - missing) / rate.interval),
            reset: missing.roundedUpSeconds, retryAfter: retryAfter?.roundedUpSeconds)
    }

    /// Forgets an eighth at a time, so that it is seldom done.
    private func makeRoom(in fullAt: inout [Key: Instant], _ now: Instant) {
        guard fullAt.count >= bound else { return }
        fullAt = fullAt.filter { $0.value > now }
        let excess = fullAt.count - (bound - max(1, bound / 8))
        guard excess > 0 else { return }
        for key in fullAt.sorted(by: { $0.value < $1.value }).prefix(excess).map(\.key) { fullAt[key] = nil }
    }
}

extension Response {
    /// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-12).
    public mutating func add(_ standings: [RateStanding]) {
        for (name, value) in RateStanding.headers(standings) { add(name, value) }
    }
}

extension RateStanding {
    /// None when nothing is limited.
    static func headers(_ standings: [RateStanding]) -> [(String, String)] {
        let standings = standings.filter(\.rate.isLimited)
        guard !standings.isEmpty else { return [] }
        let policies = standings.map { "\"\($0.rate.name)\";q=\($0.rate.burst);w=\($0.rate.window)" }
        let states = standings.map { "\"\($0.rate.name)\";r=\($0.remaining);t=\($0.reset)" }
        return [
            ("RateLimit-Policy", policies.joined(separator: ", ")), ("RateLimit", states.joined(separator: ", ")),
        ]
    }
}
