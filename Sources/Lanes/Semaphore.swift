internal import Glibc

/// A counting semaphore: a thread waits here until there is a job for it.
///
/// Posting without a waiter stays in user space, which a pipe or a condition variable with its lock does not.
final class Semaphore: Sendable {
    // A C structure that must not move, kept by address so that the class stays Sendable.
    private let address: UInt

    init() {
        let pointer = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(pointer, 0, 0)
        address = UInt(bitPattern: pointer)
    }

    deinit {
        guard let pointer else { return }
        sem_destroy(pointer)
        pointer.deallocate()
    }

    func post() {
        guard let pointer else { return }
        sem_post(pointer)
    }

    func wait() {
        guard let pointer else { return }
        while sem_wait(pointer) != 0 && errno == EINTR {}
    }

    private var pointer: UnsafeMutablePointer<sem_t>? { UnsafeMutablePointer(bitPattern: address) }
}
