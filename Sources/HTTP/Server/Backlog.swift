import Glibc

/// Connections that nobody had accepted when accepting stopped.
///
/// Closing the listener would reset them, and who has asked already could not tell that from a crash: they are told to
/// come back instead, and who has not asked yet sees an orderly end.
struct Backlog: ~Copyable {
    private var sockets: [Int32] = []

    /// Takes the sockets over and answers those that have sent something; does not block.
    init(_ sockets: [Int32], answer: [UInt8]) {
        var scrap = [UInt8](repeating: 0, count: 65_536)
        for socket in sockets {
            if recv(socket, &scrap, scrap.count, Int32(MSG_DONTWAIT)) > 0 {
                _ = answer.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            shutdown(socket, Int32(SHUT_WR))
        }
        self.sockets = sockets
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    /// Waits until the clients have closed, at most until this instant of `Monotonic`: closing over what they still send
    /// would reset the connection, and with it the answer.
    mutating func linger(until deadline: Int64) {
        var scrap = [UInt8](repeating: 0, count: 65_536)
        while !sockets.isEmpty {
            let left = deadline - Monotonic.now()
            guard left > 0 else { return }
            var entries = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), Int32(left / 1_000_000 + 1)) > 0 else { continue }
            sockets = entries.compactMap { entry in
                guard entry.revents != 0, recv(entry.fd, &scrap, scrap.count, Int32(MSG_DONTWAIT)) <= 0 else {
                    return entry.fd
                }
                close(entry.fd)
                return nil
            }
        }
    }
}

extension Response {
    /// The response as bytes for a connection that the library does not know; it closes behind it.
    func closing() -> [UInt8] {
        let content: [UInt8]
        switch body {
        case .bytes(let bytes): content = bytes
        case .empty, .events: content = []
        }
        var closing = self
        closing.set("Connection", "close")
        closing.set("Content-Length", "\(content.count)")
        return closing.head("Service Unavailable") + content
    }
}
