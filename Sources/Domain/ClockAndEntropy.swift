public import Wire

/// The time, as a parameter: tests move it.
public protocol Clock: Sendable {
    func now() -> Instant
}

/// Randomness, as a parameter: tests seed it.
public protocol Entropy: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension Entropy {
    /// A time-ordered UUID (RFC 9562 §5.7).
    public func uuid(at instant: Instant) -> UUID {
        var random: (UInt64, UInt64) = (0, 0)
        for byte in bytes(16) { random = (random.0 << 8 | random.1 >> 56, random.1 << 8 | UInt64(byte)) }
        return UUID.v7(milliseconds: instant.milliseconds, entropy: random)
    }

    public func id<Subject>(at instant: Instant) -> ID<Subject> { ID(uuid(at: instant)) }
}
