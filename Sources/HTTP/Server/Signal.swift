import CMicroHTTPD
import Glibc

/// Wakes a thread that waits in `poll`; raising it twice wakes it once.
final class Signal: Sendable {
    let descriptor: Int32

    init() {
        descriptor = chttp_eventfd()
    }

    deinit {
        close(descriptor)
    }

    func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// Waits until raised or until the time is over, and clears the signal.
    func wait(milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, milliseconds)
        clear()
    }
}
