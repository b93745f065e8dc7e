package import HTTP
import Synchronization
package import Wire

/// How often something may be done, counted for each key on this node alone.
///
/// A key may spend `burst` at once and regains one each interval. Instead of a number of tokens each key has the instant
/// at which it will have all of them again, so that a key at rest costs nothing and can be forgotten. With `keys` of them
/// under way, the one that would be forgotten first makes room.
package final class RateLimit<Key: Hashable & Sendable>: Sendable {
    private let burst: Int
    private let interval: Duration
    private let bound: Int
    private let fullAt = Mutex<[Key: Instant]>([:])

    package init(burst: Int, every interval: Duration, keys bound: Int = 10_000) {
        self.burst = burst
        self.interval = interval
        self.bound = bound
    }

    /// Spends one of the key's, when it has one.
    package func take(_ key: Key, at now: Instant) -> RateVerdict {
        fullAt.withLock { fullAt in
            let known = fullAt[key]
            let current = max(known ?? now, now)
            let next = current + interval
            let excess = next.duration(since: now) - interval * burst
            guard excess <= .zero else { return verdict(fullAt: current, now, retryAfter: excess) }
            if known == nil { makeRoom(in: &fullAt, now) }
            fullAt[key] = next
            return verdict(fullAt: next, now, retryAfter: nil)
        }
    }

    private func verdict(fullAt: Instant, _ now: Instant, retryAfter: Duration?) -> RateVerdict {
        let missing = fullAt.duration(since: now)
        return RateVerdict(
            limit: burst, remaining: Int((interval * burst - missing) / interval), reset: missing.roundedUpSeconds,
            retryAfter: retryAfter?.roundedUpSeconds)
    }

    private func makeRoom(in fullAt: inout [Key: Instant], _ now: Instant) {
        guard fullAt.count >= bound else { return }
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= bound, let first = fullAt.min(by: { $0.value < $1.value }) else { return }
        fullAt[first.key] = nil
    }
}

/// What a rate limit says of one attempt.
package struct RateVerdict: Hashable, Sendable {
    package let limit: Int
    package let remaining: Int
    /// Seconds until all are there again.
    package let reset: Int
    /// Seconds until the next one is there; `nil` when this one was allowed.
    package let retryAfter: Int?
}

extension Response {
    package mutating func add(_ verdict: RateVerdict) {
        add("RateLimit-Limit", "\(verdict.limit)")
        add("RateLimit-Remaining", "\(verdict.remaining)")
        add("RateLimit-Reset", "\(verdict.reset)")
    }
}

extension Duration {
    fileprivate var roundedUpSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) + (attoseconds > 0 ? 1 : 0)
    }
}
