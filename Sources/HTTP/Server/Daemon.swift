import CMicroHTTPD
import Glibc
import Synchronization

/// The library's running instance; its handle crosses threads as a bit pattern.
final class Daemon: Sendable {
    private let handle: Mutex<UInt>

    init(core: Core, settings: Server.Settings) throws(ServerFault) {
        let workers = UInt32(clamping: max(settings.workers, 2))
        var options = chttp_daemon_options()
        options.workers = workers
        // Divided among the workers, and never to be reached: the library deadlocks at its own limit.
        options.connection_limit = workers * UInt32(clamping: min(settings.connectionLimit + 64, 1 << 20))
        options.connection_memory = settings.connectionMemory
        options.strictness = Daemon.isOld ? 0 : 1
        let context = Unmanaged.passRetained(core)
        let started = chttp_start(
            options, context.toOpaque(), requestCalled, targetArrived, requestCompleted, connectionChanged)
        guard let started else {
            context.release()
            throw .system(call: "MHD_start_daemon", code: errno)
        }
        handle = Mutex(UInt(bitPattern: started))
    }

    /// Version 0.9: its parser is lenient, and where the pieces of a head lie tells what it overlooked.
    ///
    /// It is told to be lenient about `Host` too, because its own refusal would write two response heads.
    static let isOld: Bool = {
        guard let version = MHD_get_version() else { return false }
        return String(cString: version).hasPrefix("0.9.")
    }()

    /// Hands over an accepted socket, which belongs to the library from then on whatever is returned.
    func add(_ socket: Int32, _ storage: inout sockaddr_storage, _ length: socklen_t) -> Bool {
        let daemon = handle.withLock { OpaquePointer(bitPattern: $0) }
        guard let daemon else {
            close(socket)
            return false
        }
        let result = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                MHD_add_connection(daemon, socket, $0, length)
            }
        }
        return result == .YES
    }

    /// Ends all workers; no connection may be suspended, and none added, when this is called.
    func stop(core: Core) {
        let daemon = handle.withLock { bits in
            defer { bits = 0 }
            return OpaquePointer(bitPattern: bits)
        }
        guard let daemon else { return }
        MHD_stop_daemon(daemon)
        Unmanaged.passUnretained(core).release()
    }
}
