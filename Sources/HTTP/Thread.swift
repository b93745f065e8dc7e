import CMicroHTTPD
import Glibc

/// A thread of the server's own, for loops that wait in the system.
struct Thread: Sendable {
    private let id: pthread_t

    /// Starts it; nil when the system has no more threads.
    init?(_ name: String, _ body: @escaping @Sendable () -> Void) {
        var id = pthread_t()
        let start = Unmanaged.passRetained(ThreadBody(body))
        guard pthread_create(&id, nil, runThread, start.toOpaque()) == 0 else {
            start.release()
            return nil
        }
        pthread_setname_np(id, name)
        self.id = id
    }

    /// Waits for its end; once only.
    func join() {
        pthread_join(id, nil)
    }

    func detach() {
        pthread_detach(id)
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runThread(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let body else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
    return nil
}
