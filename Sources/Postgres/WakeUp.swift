internal import CPostgreSQL
internal import Glibc

/// Wakes a thread that waits on a libpq socket: an eventfd, so that one poll covers both.
final class WakeUp: Sendable {
    struct Reason {
        var isCalled = false
        /// The other descriptor has something to read, an error or an end.
        var isReadable = false
    }

    private let descriptor: Int32

    init() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func call() {
        eventfd_write(descriptor, 1)
    }

    /// Waits for a call, for the socket when there is one, or for the end of the time (nil is for ever).
    func wait(socket: Int32? = nil, for duration: Duration? = nil) -> Reason {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        // Without a descriptor (the process had none left) nobody can call, so the caller looks by itself now and then.
        let forEver: Int32 = descriptor < 0 ? 50 : -1
        guard poll(&descriptors, nfds_t(descriptors.count), duration?.pollTimeout ?? forEver) > 0 else {
            return Reason()
        }
        var reason = Reason()
        if descriptors[0].revents != 0 {
            var count: eventfd_t = 0
            eventfd_read(descriptor, &count)
            reason.isCalled = true
        }
        reason.isReadable = descriptors.count > 1 && descriptors[1].revents != 0
        return reason
    }
}

extension Duration {
    /// Milliseconds rounded up, as poll takes them.
    fileprivate var pollTimeout: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, seconds < 1_000_000 else { return seconds < 0 ? 0 : 1_000_000_000 }
        return Int32(seconds) * 1_000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Pauses between attempts to connect: doubling, with a bound, never the same on two lanes.
struct Backoff {
    private var next: Duration = .milliseconds(50)

    mutating func pause() -> Duration {
        let pause = next
        next = min(next * 2, .seconds(2))
        return pause * Double.random(in: 0.5...1)
    }

    mutating func reset() {
        next = .milliseconds(50)
    }
}
