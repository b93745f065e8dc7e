import Glibc
import Synchronization

/// Connections that the library has closed while their clients still send.
///
/// Closing over what arrives would reset the connection, and with it the refusal on its way: proxies make a bad gateway of
/// that. So they are read to their end, by the thread that keeps the deadlines, for a short while.
final class Lingerer: Sendable {
    private struct Entry {
        let socket: Int32
        let deadline: Int64
    }

    /// More than these at once are closed as they are: who sends too much is owed little.
    private static let room = 256
    private static let patience: Int64 = 2_000_000_000
    private let entries = Mutex<[Entry]>([])
    /// Raised when there is one more.
    let arrived = Signal()

    var isIdle: Bool { entries.withLock { $0.isEmpty } }

    /// Keeps the connection behind this descriptor, which its owner is about to close.
    func keep(_ socket: Int32) {
        guard entries.withLock({ $0.count < Self.room }) else { return }
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        shutdown(copy, Int32(SHUT_WR))
        entries.withLock { $0.append(Entry(socket: copy, deadline: Monotonic.now() + Self.patience)) }
        arrived.raise()
    }

    /// Reads away what has come, and closes those that are done or late.
    func sweep(_ now: Int64) {
        // Read without the lock, which the thread of all streams takes too.
        var taken = entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
        guard !taken.isEmpty else { return }
        var scrap = [UInt8](repeating: 0, count: 65_536)
        taken.removeAll { entry in
            guard now > entry.deadline || Self.isOver(entry.socket, &scrap) else { return false }
            close(entry.socket)
            return true
        }
        entries.withLock { $0 += taken }
    }

    /// Closes all, wherever they are.
    func end() {
        sweep(.max)
    }

    /// Whether the client has closed; at most 4 MiB are read at a time, so that nobody keeps the others waiting.
    private static func isOver(_ socket: Int32, _ scrap: inout [UInt8]) -> Bool {
        for _ in 0..<64 {
            let count = recv(socket, &scrap, scrap.count, Int32(MSG_DONTWAIT))
            if count < 0 { return errno != EAGAIN && errno != EINTR }
            if count == 0 { return true }
        }
        return false
    }
}
