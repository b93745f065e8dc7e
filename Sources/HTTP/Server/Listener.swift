import CMicroHTTPD
import Glibc

/// The listening socket.
struct Listener: Sendable {
    /// Connections that the system keeps until they are accepted.
    static let backlog = 4096

    let socket: Int32
    let port: Int

    init(_ settings: Server.Settings) throws(ServerFault) {
        guard let address = Address(settings.address, port: settings.port) else {
            throw .addressMalformed(settings.address)
        }
        var (storage, length) = address.storage
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(Int32(storage.ss_family), kind, 0)
        guard socket >= 0 else { throw .system(call: "socket", code: errno) }
        do throws(ServerFault) {
            try Listener.bind(socket, &storage, length, settings)
            self.port = try Listener.boundPort(socket)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
    }

    private static func bind(
        _ socket: Int32, _ storage: inout sockaddr_storage, _ length: socklen_t, _ settings: Server.Settings
    ) throws(ServerFault) {
        _ = chttp_set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        if settings.sharesPort { _ = chttp_set_option(socket, SOL_SOCKET, SO_REUSEPORT, 1) }
        if Int32(storage.ss_family) == AF_INET6 {
            _ = chttp_set_option(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
        }
        let bound = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(socket, $0, length) }
        }
        guard bound == 0, listen(socket, Int32(backlog)) == 0 else {
            throw fault(errno, settings)
        }
    }

    private static func fault(_ code: Int32, _ settings: Server.Settings) -> ServerFault {
        switch code {
        case EADDRINUSE: .portInUse(settings.port)
        case EACCES, EPERM: .permissionDenied(settings.port)
        case EADDRNOTAVAIL: .addressNotAvailable(settings.address)
        default: .system(call: "bind", code: code)
        }
    }

    private static func boundPort(_ socket: Int32) throws(ServerFault) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard result == 0, let address = Address(storage) else { throw .system(call: "getsockname", code: errno) }
        return address.port
    }
}
