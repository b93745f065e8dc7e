/// How long one piece of work takes, smoothed: from it, how long a line in front of the work takes.
///
/// It begins at nothing and rises step by step: one piece that took long, the first of a cold start or one that waited for a
/// lock, must not turn away a line that will move as fast as ever. A line that stands still is told by its age.
public struct Pace: Sendable {
    private var typical = Duration.zero

    public init() {}

    /// One piece at most doubles what is thought typical.
    public mutating func note(_ duration: Duration) {
        typical = (typical * 7 + min(duration, typical * 8 + .milliseconds(8))) / 8
    }

    /// When so many pieces before one's own will have been done, by so many workers.
    public func time(for pieces: Int, by workers: Int) -> Duration { typical * pieces / max(1, workers) }
}
