import CMicroHTTPD
import Glibc
import Lanes
import Synchronization

/// The thread that accepts connections and hands them to the library.
///
/// Accepting is ours because the library deadlocks at its own limit and aborts when it is told to stop accepting.
final class Acceptor: Sendable {
    private let listener: Listener
    private let connections: Connections
    private let daemon: Daemon
    private let headerTimeout: Int64
    private let sendBuffer: Int32
    private let stopping = Atomic<Bool>(false)
    private let thread = Mutex<Thread?>(nil)

    init(listener: Listener, connections: Connections, daemon: Daemon, settings: Server.Settings) {
        self.listener = listener
        self.connections = connections
        self.daemon = daemon
        headerTimeout = Monotonic.nanoseconds(settings.headerTimeout)
        sendBuffer = Int32(clamping: settings.sendBuffer)
    }

    func start() throws(ServerFault) {
        guard let started = Thread(named: "http-accept", { self.run() }) else {
            throw .system(call: "pthread_create", code: EAGAIN)
        }
        thread.withLock { $0 = started }
    }

    /// Stops accepting and closes the listening socket.
    ///
    /// What had waited to be accepted is taken in as far as there is room and else returned, answered with `refusal`;
    /// in an inherited socket it goes on waiting.
    func stop(refusal: () -> [UInt8]) -> Backlog {
        stopping.store(true, ordering: .releasing)
        connections.roomMade.raise()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return Backlog([], answer: []) }
        running.join()
        let waiting = listener.isInherited ? [] : leftovers()
        close(listener.socket)
        return Backlog(waiting, answer: waiting.isEmpty ? [] : refusal())
    }

    private func leftovers() -> [Int32] {
        var sockets: [Int32] = []
        // No more than the backlog holds: who connects meanwhile must not keep the server from stopping.
        for _ in 0..<Listener.backlog {
            var storage = sockaddr_storage()
            var length = socklen_t(0)
            let socket = chttp_accept(listener.socket, &storage, &length)
            if socket < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard socket >= 0 else { break }
            if connections.hasRoom() { take(socket, &storage, length) } else { sockets.append(socket) }
        }
        return sockets
    }

    private func run() {
        var mustPause = false
        while !stopping.load(ordering: .acquiring) {
            let mayAccept = !mustPause && connections.hasRoom()
            var entries = [
                pollfd(fd: connections.roomMade.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: mayAccept ? listener.socket : -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&entries, 2, mustPause ? 50 : -1)
            mustPause = false
            if entries[0].revents != 0 { connections.roomMade.clear() }
            if entries[1].revents != 0 { mustPause = !acceptSome() }
        }
    }

    /// Accepts what is there; false when the process or the system has no descriptor left.
    private func acceptSome() -> Bool {
        for _ in 0..<64 {
            guard connections.hasRoom() else { return true }
            var storage = sockaddr_storage()
            var length = socklen_t(0)
            let socket = chttp_accept(listener.socket, &storage, &length)
            guard socket >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
                default: return true
                }
            }
            take(socket, &storage, length)
        }
        return true
    }

    private func take(_ socket: Int32, _ storage: inout sockaddr_storage, _ length: socklen_t) {
        let deadline = Monotonic.now() + headerTimeout
        guard let peer = Address(storage),
            let connection = connections.add(socket: socket, peer: peer, deadline: deadline)
        else {
            close(socket)
            return
        }
        _ = chttp_set_option(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        _ = chttp_set_option(socket, SOL_SOCKET, SO_SNDBUF, sendBuffer)
        if !daemon.add(socket, &storage, length) { connections.remove(connection) }
    }
}
