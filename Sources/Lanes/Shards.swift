internal import Glibc

/// Something that every request touches, in several places with a lock each.
///
/// A contended `Mutex` spins, and with more threads than cores its holder is often not running.
public final class Shards<Value: Sendable>: Sendable {
    private final class Shard: Sendable {
        let value: Lock<Value>

        init(_ value: Value) { self.value = Lock(value) }
    }

    private let shards: [Shard]

    public init(_ count: Int = 16, _ make: () -> Value) { shards = (0..<max(1, count)).map { _ in Shard(make()) } }

    public var count: Int { shards.count }

    /// What is there of each.
    public var all: [Value] { shards.map { $0.value.withLock { $0 } } }

    /// Does the same in every place, one after the other.
    public func withEach<E: Error>(_ body: (inout Value) throws(E) -> Void) throws(E) {
        for shard in shards { try shard.value.withLock { (value) throws(E) in try body(&value) } }
    }

    /// The place of a key: always the same one.
    public func withLock<R: Sendable, E: Error>(
        for key: some Hashable, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        try withLock(at: UInt(bitPattern: key.hashValue), body)
    }

    /// The place of this thread, for what is added up later.
    public func withLockOfThread<R: Sendable, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        // Threads' addresses differ by whole stacks: only their upper bits tell them apart.
        try withLock(at: (UInt(pthread_self()) &* 0x9E37_79B9_7F4A_7C15) >> 32, body)
    }

    private func withLock<R: Sendable, E: Error>(at place: UInt, _ body: (inout Value) throws(E) -> R) throws(E) -> R {
        try shards[Int(place % UInt(shards.count))].value.withLock { (value) throws(E) in try body(&value) }
    }
}
