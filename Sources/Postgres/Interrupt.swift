internal import CPostgreSQL
internal import Synchronization

/// Lets another thread cancel the statement that a lane is waiting for.
///
/// The only libpq handle that crosses threads: kept as a bit pattern under a lock, so that it is never used after its end.
final class Interrupt: Sendable {
    private let pattern = Mutex<UInt>(0)

    deinit { disarm() }

    func arm(_ connection: Handle) {
        let new = UInt(bitPattern: PQgetCancel(connection.pointer))
        replace(with: new)
    }

    func disarm() {
        replace(with: 0)
    }

    /// Asks the server to cancel what runs now, if anything does; blocks for a connection of its own.
    func fire() {
        pattern.withLock { pattern in
            guard let cancel = OpaquePointer(bitPattern: pattern) else { return }
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(cancel, &message, Int32(message.count))
        }
    }

    private func replace(with new: UInt) {
        pattern.withLock { pattern in
            if let old = OpaquePointer(bitPattern: pattern) { PQfreeCancel(old) }
            pattern = new
        }
    }
}
