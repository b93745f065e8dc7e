public import Glibc

/// Who started this process and watches it: systemd, or whatever else speaks its protocol (sd_notify(3),
/// sd_listen_fds(3)).
public final class Supervisor: Sendable {
    /// What it passed on is not what this server can use.
    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    /// The first descriptor that is passed on, SD_LISTEN_FDS_START.
    private static let firstSocket: Int32 = 3

    /// The socket that already listens, if one was passed on.
    public let socket: Int32?
    /// How often it wants to hear that the process is well; nil when it does not ask.
    public let watchdog: Duration?
    private let address: [UInt8]

    public init(environment: [String: String], process: Int32 = getpid()) throws(Fault) {
        address = Array((environment["NOTIFY_SOCKET"] ?? "").utf8)
        socket = try Self.socket(environment, process)
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let patience = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && patience > 0 && !address.isEmpty ? .microseconds(patience / 2) : nil
    }

    private static func socket(_ environment: [String: String], _ process: Int32) throws(Fault) -> Int32? {
        guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"] else { return nil }
        guard let count = Int(text), count > 0 else { return nil }
        guard count == 1 else { throw Fault(description: "\(count) sockets were passed on, and one is enough") }
        return firstSocket
    }

    /// Requests are served from now on.
    public func ready() { tell("READY=1\nSTATUS=Serving requests\n") }

    public func stopping() { tell("STOPPING=1\nSTATUS=Finishing requests\n") }

    /// Says again and again that tasks still run, until the task is cancelled.
    public func reassure() async {
        guard let watchdog else { return }
        while !Task.isCancelled {
            tell("WATCHDOG=1\n")
            try? await Task.sleep(for: watchdog)
        }
    }

    /// One datagram; nobody is told when it does not arrive, as nobody asked.
    private func tell(_ words: String) {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let room = MemoryLayout.size(ofValue: name.sun_path)
        guard let first = address.first, address.count < room, first == 0x2F || first == 0x40 else { return }
        withUnsafeMutableBytes(of: &name) { raw in
            raw[offset...].copyBytes(from: address)
            // A name outside the file system is written with an at sign and begins with a zero.
            if first == 0x40 { raw[offset] = 0 }
        }
        let sender = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sender >= 0 else { return }
        defer { close(sender) }
        let length = socklen_t(offset + address.count)
        let bytes = Array(words.utf8)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(sender, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
