import CMicroHTTPD
import Glibc

/// The listening socket: our own, or one that was made before this process and outlives it.
struct Listener: Sendable {
    /// Connections that the system keeps until they are accepted.
    static let backlog = 4096

    let socket: Int32
    /// Where it listens, with the port that the system chose.
    let address: Address
    /// Somebody else keeps it open: what waits in it waits for the next process.
    let isInherited: Bool

    init(_ settings: Server.Settings) throws(ServerFault) {
        if let descriptor = settings.inheritedSocket {
            try self.init(inherited: descriptor)
        } else {
            try self.init(new: settings)
        }
    }

    private init(new settings: Server.Settings) throws(ServerFault) {
        guard let address = Address(settings.address, port: settings.port) else {
            throw .addressMalformed(settings.address)
        }
        var (storage, length) = address.storage
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(Int32(storage.ss_family), kind, 0)
        guard socket >= 0 else { throw .system(call: "socket", code: errno) }
        do throws(ServerFault) {
            try Listener.bind(socket, &storage, length, settings)
            self.address = try Listener.boundAddress(socket)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
        isInherited = false
    }

    private init(inherited descriptor: Int32) throws(ServerFault) {
        var listens: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let status = getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)
        guard status == 0, listens == 1, let address = try? Listener.boundAddress(descriptor) else {
            throw .notListening(descriptor)
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw .system(call: "fcntl", code: errno) }
        self.address = address
        socket = descriptor
        isInherited = true
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

    private static func boundAddress(_ socket: Int32) throws(ServerFault) -> Address {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard result == 0, let address = Address(storage) else { throw .system(call: "getsockname", code: errno) }
        return address
    }
}
