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
        let random = bytes(16)
        func word(_ from: Int) -> UInt64 { random[from..<from + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return UUID.v7(milliseconds: instant.milliseconds, entropy: (word(0), word(8)))
    }

    public func id<Subject>(at instant: Instant) -> ID<Subject> { ID(uuid(at: instant)) }
}
