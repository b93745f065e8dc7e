import Glibc

/// A socket on a free port of loopback that listens as long as this lives, as a supervisor holds one.
package final class ListeningSocket: Sendable {
    package let descriptor: Int32
    package let port: Int

    package init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(socket, name, length) == 0 && listen(socket, 64) == 0 && getsockname(socket, name, &length) == 0
            }
        }
        guard status else {
            close(socket)
            throw TestServer.Fault("no socket that listens: \(errno)")
        }
        descriptor = socket
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
