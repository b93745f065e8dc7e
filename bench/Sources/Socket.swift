import CMicroHTTPD
import Glibc

/// Connections to 127.0.0.1 that never block once they stand.
enum Socket {
    static func connect(port: UInt16) throws(BenchFault) -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw BenchFault(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let fault = BenchFault(call: "connect")
            close(socket)
            throw fault
        }
        _ = chttp_set_option(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return socket
    }

    enum Taken {
        case bytes(Int)
        case nothing
        case closed
    }

    static func receive(_ socket: Int32, into buffer: inout [UInt8]) -> Taken {
        let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }

    /// How many bytes went; nil when the connection is gone.
    static func send(_ bytes: [UInt8], from start: Int, to socket: Int32) -> Int? {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress.map { $0 + start }, $0.count - start, flags)
        }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }
}

/// What is ready, by tag.
struct Poller {
    private let epoll = chttp_epoll_create()
    private var tags = [UInt64](repeating: 0, count: 256)
    private var events = [UInt32](repeating: 0, count: 256)

    func add(_ descriptor: Int32, tag: Int) {
        _ = chttp_epoll_set(epoll, chttp_epoll_add, descriptor, chttp_epoll_in, UInt64(tag))
    }

    func watch(_ descriptor: Int32, tag: Int, forRoom: Bool) {
        let events = chttp_epoll_in | (forRoom ? chttp_epoll_out : 0)
        _ = chttp_epoll_set(epoll, chttp_epoll_modify, descriptor, events, UInt64(tag))
    }

    /// Waits until something is ready or the instant has come, to the microsecond where epoll itself knows only milliseconds.
    mutating func wait(until instant: Int64) -> [(tag: Int, isWritable: Bool)] {
        var count = chttp_epoll_wait(epoll, &tags, &events, 256, 0)
        let left = instant - Ticks.now()
        if count == 0 && left > 0 {
            rest(left)
            count = chttp_epoll_wait(epoll, &tags, &events, 256, 0)
        }
        return (0..<max(Int(count), 0)).map { (Int(tags[$0]), events[$0] & chttp_epoll_out != 0) }
    }

    private func rest(_ nanoseconds: Int64) {
        var set = fd_set()
        withUnsafeMutableBytes(of: &set) { $0[Int(epoll) / 8] |= 1 << UInt8(epoll % 8) }
        var time = timespec(
            tv_sec: Int(nanoseconds / Ticks.perSecond), tv_nsec: Int(nanoseconds % Ticks.perSecond))
        _ = pselect(epoll + 1, &set, nil, nil, &time, nil)
    }
}
