internal import Glibc

/// A named thread that handles no signals; they belong to the main thread.
public struct Thread: Sendable {
    private let handle: pthread_t

    /// Starts the body on a new thread.
    ///
    /// Nil when the machine has no thread to give. The name is cut to the 15 bytes that Linux keeps.
    public init?(named name: String, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var handle = pthread_t()
        guard pthread_create(&handle, nil, runThread, start.toOpaque()) == 0 else {
            start.release()
            return nil
        }
        self.handle = handle
    }

    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Waits for the end of the thread; called once, and never after `detach`.
    public func join() {
        guard !isCurrent else { return detach() }
        pthread_join(handle, nil)
    }

    public func detach() {
        pthread_detach(handle)
    }
}

private final class ThreadStart {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

// Glibc's module has no pthread_setname_np; the kernel's own file does the same.
private func nameThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = Array(name.utf8.prefix(15)).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    nameThread(start.name)
    start.body()
    return nil
}
