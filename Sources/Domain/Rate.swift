/// How often something may be done: so many at once, and one of them regained each interval.
package struct Rate: Hashable, Sendable {
    /// Whose doings are added up.
    package enum Holder: String, Sendable { case account, device, address, sender }

    package let name: String
    package let per: Holder
    package private(set) var burst: Int
    /// Zero when there is no limit.
    package private(set) var interval: Duration

    package init(_ name: StaticString, per holder: Holder, burst: Int, every interval: Duration) {
        self.name = "\(name)"
        per = holder
        self.burst = burst
        self.interval = interval
    }

    package var isLimited: Bool { interval > .zero }

    /// Seconds after which all are there again.
    package var window: Int { (interval * burst).roundedUpSeconds }

    /// The same, as many times as generous; no limit at all for 0 percent.
    package func scaled(toPercent percent: Int) -> Rate {
        var rate = self
        guard percent > 0 else {
            rate.interval = .zero
            return rate
        }
        rate.burst = max(1, burst * percent / 100)
        rate.interval = interval * 100 / percent
        return rate
    }
}

/// How one key stands to a rate after an attempt.
package struct RateStanding: Hashable, Sendable {
    package let rate: Rate
    package let remaining: Int
    /// Seconds until all are there again.
    package let reset: Int
    /// Seconds until enough are there; `nil` when this attempt was allowed.
    package let retryAfter: Int?

    package init(rate: Rate, remaining: Int, reset: Int, retryAfter: Int?) {
        self.rate = rate
        self.remaining = remaining
        self.reset = reset
        self.retryAfter = retryAfter
    }
}

extension Duration {
    package var roundedUpSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) + (attoseconds > 0 ? 1 : 0)
    }
}
