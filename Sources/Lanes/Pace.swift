/// How long one piece of work takes, smoothed: from it, how long a line in front of the work takes.
///
/// Of two pieces in a row the quicker one counts: one alone that took long, the first of a cold start or one that waited for
/// a lock, must not turn away a line that will move as fast as ever.
public struct Pace: Sendable {
    /// Zero until two pieces are done.
    private var typical = Duration.zero
    private var last: Duration?

    public init() {}

    public mutating func note(_ duration: Duration) {
        defer { last = duration }
        guard let last else { return }
        let quicker = min(duration, last)
        typical = typical == .zero ? quicker : (typical * 7 + quicker) / 8
    }

    /// When so many pieces before one's own will have been done, by so many workers.
    public func time(for pieces: Int, by workers: Int) -> Duration { typical * pieces / max(1, workers) }
}
