import Wire

/// How failed sign-ins slow down the next: the first few cost nothing, then each doubles the wait.
public struct ThrottleRule: Sendable {
    /// Failures that cost nothing.
    let free: Int
    /// Failures further apart than this do not add up.
    let window: Duration
    let shortest: Duration
    let longest: Duration

    public init(
        free: Int, window: Duration = .seconds(900), shortest: Duration = .seconds(1), longest: Duration = .seconds(60)
    ) {
        self.free = free
        self.window = window
        self.shortest = shortest
        self.longest = longest
    }

    /// What is known after one more failure.
    func failed(after known: Failures?, at now: Instant) -> Failures {
        let count = known.map { now.duration(since: $0.lastAt) < window ? $0.count + 1 : 1 } ?? 1
        return Failures(count: count, lastAt: now, blockedUntil: block(after: count).map { now + $0 })
    }

    private func block(after count: Int) -> Duration? {
        guard count > free else { return nil }
        // Beyond a few doublings it is the longest anyway.
        return min(shortest * (1 << min(count - free - 1, 16)), longest)
    }
}

/// The failed sign-ins of one name or one address.
struct Failures: Sendable, Equatable {
    let count: Int
    let lastAt: Instant
    let blockedUntil: Instant?

    /// By how much the clocks of two nodes may differ.
    private static let disagreement = Duration.seconds(60)

    /// Whole seconds until another attempt is looked at; `nil` when it is now.
    ///
    /// A failure that has yet to happen was counted by a clock that was set back meanwhile: nobody waits until then. The
    /// next failure is added to it, by the clock as it is now.
    func wait(at now: Instant) -> Int? {
        guard let blockedUntil, blockedUntil > now, lastAt <= now + Self.disagreement else { return nil }
        return Int(blockedUntil.duration(since: now).components.seconds) + 1
    }
}
