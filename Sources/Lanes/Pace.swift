/// How long one piece of work takes, smoothed: from it, how long a line in front of the work takes.
public struct Pace: Sendable {
    /// Zero until the first piece is done.
    private var typical = Duration.zero

    public init() {}

    public mutating func note(_ duration: Duration) {
        typical = typical == .zero ? duration : (typical * 7 + duration) / 8
    }

    /// When so many pieces before one's own will have been done, by so many workers.
    public func time(for pieces: Int, by workers: Int) -> Duration { typical * pieces / max(1, workers) }
}
