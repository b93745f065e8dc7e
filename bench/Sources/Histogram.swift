import Wire

/// Durations in nanoseconds, counted in steps of at most 1/64 of their size.
struct Histogram {
    private static let fine = 6
    private var counts = [UInt64](repeating: 0, count: 64 << fine)
    private(set) var count: UInt64 = 0
    private(set) var largest: Int64 = 0

    mutating func add(_ nanoseconds: Int64) {
        let value = max(nanoseconds, 0)
        counts[Self.slot(value)] += 1
        count += 1
        largest = max(largest, value)
    }

    /// The duration that this share of all stays within; zero when there are none.
    func quantile(_ share: Double) -> Int64 {
        let wanted = UInt64((Double(count) * share).rounded(.up))
        var seen: UInt64 = 0
        for (slot, number) in counts.enumerated() where number > 0 {
            seen += number
            if seen >= wanted { return min(Self.top(of: slot), largest) }
        }
        return largest
    }

    private static func slot(_ value: Int64) -> Int {
        let bits = Int64.bitWidth - value.leadingZeroBitCount
        guard bits > fine else { return Int(value) }
        let shift = bits - fine - 1
        return (shift + 1) << fine + Int(value >> Int64(shift)) - 1 << fine
    }

    private static func top(of slot: Int) -> Int64 {
        let octave = slot >> fine
        guard octave > 0 else { return Int64(slot) }
        let low = Int64(slot & (1 << fine - 1) + 1 << fine)
        return (low + 1) << Int64(octave - 1) - 1
    }
}

extension JSONWriter {
    /// Microseconds, at the quantiles that are read.
    mutating func field(_ name: StaticString, _ histogram: Histogram) {
        key(name)
        beginObject()
        field("count", Int64(histogram.count))
        field("p50", histogram.quantile(0.5) / 1_000)
        field("p90", histogram.quantile(0.9) / 1_000)
        field("p99", histogram.quantile(0.99) / 1_000)
        field("p999", histogram.quantile(0.999) / 1_000)
        field("max", histogram.largest / 1_000)
        endObject()
    }
}
