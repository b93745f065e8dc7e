internal import Glibc
internal import Synchronization

/// A `Mutex` for what many threads touch on every request.
///
/// Alone, a `Mutex` spins while its holder is not running, and when it is let go it belongs at once to whoever has slept
/// longest: with more threads than processors one moment of contention never ends, because every next holder must first be
/// woken. In front of this one threads sleep, and whoever is running may be quicker than those who are still waking up.
public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    private let gate: Waiting
    private let value: Mutex<Value>

    public init(_ value: consuming sending Value) {
        gate = Waiting()
        self.value = Mutex(value)
    }

    public borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        gate.enter()
        defer { gate.leave() }
        return try value.withLock(body)
    }
}

/// The C library's mutex, which must not move, kept by address so that the class stays Sendable.
private final class Waiting: Sendable {
    private let address: UInt

    init() {
        let pointer = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(pointer, nil)
        address = UInt(bitPattern: pointer)
    }

    deinit {
        guard let pointer else { return }
        pthread_mutex_destroy(pointer)
        pointer.deallocate()
    }

    func enter() {
        guard let pointer else { return }
        pthread_mutex_lock(pointer)
    }

    func leave() {
        guard let pointer else { return }
        pthread_mutex_unlock(pointer)
    }

    private var pointer: UnsafeMutablePointer<pthread_mutex_t>? { UnsafeMutablePointer(bitPattern: address) }
}
