/// How often something may be done: so many at once, and one of them regained each interval.
public struct Rate: Hashable, Sendable {
    /// Whose doings are added up.
    public enum Holder: String, Sendable { case account, device, address, sender }

    public let name: String
    public let per: Holder
    public private(set) var burst: Int
    /// Zero when there is no limit.
    public private(set) var interval: Duration

    public init(_ name: StaticString, per holder: Holder, burst: Int, every interval: Duration) {
        self.name = "\(name)"
        per = holder
        self.burst = burst
        self.interval = interval
    }

    public var isLimited: Bool { interval > .zero }

    /// Seconds after which all are there again.
    public var window: Int { (interval * burst).roundedUpSeconds }

    /// The same, as many times as generous; no limit at all for 0 percent.
    public func scaled(toPercent percent: Int) -> Rate {
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
public struct RateStanding: Hashable, Sendable {
    public let rate: Rate
    public let remaining: Int
    /// Seconds until all are there again.
    public let reset: Int
    /// Seconds until enough are there; `nil` when this attempt was allowed.
    public let retryAfter: Int?

    public init(rate: Rate, remaining: Int, reset: Int, retryAfter: Int?) {
        self.rate = rate
        self.remaining = remaining
        self.reset = reset
        self.retryAfter = retryAfter
    }
}

extension Duration {
    public var roundedUpSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) + (attoseconds > 0 ? 1 : 0)
    }
}
