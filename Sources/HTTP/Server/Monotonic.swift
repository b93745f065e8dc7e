import Glibc

/// The clock that never goes back, in nanoseconds since some start.
public enum Monotonic {
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min / 4 : .max / 4 }
        return min(max(product, .min / 4), .max / 4) + attoseconds / 1_000_000_000
    }
}
