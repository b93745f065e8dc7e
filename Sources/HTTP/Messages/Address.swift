import CMicroHTTPD
import Glibc

/// The network address of a peer.
public struct Address: Sendable, Hashable, CustomStringConvertible {
    /// 4 bytes for IPv4 (also when it arrived mapped into IPv6), 16 for IPv6.
    public let bytes: [UInt8]
    public let port: Int

    public init(bytes: [UInt8], port: Int) {
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
        self.port = port
    }

    /// The textual form without port: `192.0.2.1`, `2001:db8::1`.
    public var text: String {
        guard bytes.count == 16 else {
            // At most 15 bytes, which a string holds without memory of its own: every request's log line has one.
            return String(unsafeUninitializedCapacity: 15) { digits in
                var count = 0
                for (index, byte) in bytes.prefix(4).enumerated() {
                    if index > 0 { digits[count] = 0x2E; count += 1 }
                    if byte > 99 { digits[count] = 0x30 + byte / 100; count += 1 }
                    if byte > 9 { digits[count] = 0x30 + byte / 10 % 10; count += 1 }
                    digits[count] = 0x30 + byte % 10
                    count += 1
                }
                return count
            }
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "::" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What belongs to one site: an IPv4 address, or the /64 that an IPv6 host may fill with addresses as it likes.
    public var network: [UInt8] { bytes.count == 16 ? Array(bytes[..<8]) : bytes }

    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    public var description: String {
        bytes.count == 16 ? "[\(text)]:\(port)" : "\(text):\(port)"
    }

    /// Reads what the system reports; nil for families other than IPv4 and IPv6.
    init?(_ storage: sockaddr_storage) {
        let bytes = withUnsafeBytes(of: storage) { Array($0) }
        let port = Int(bytes[2]) << 8 | Int(bytes[3])
        switch Int32(storage.ss_family) {
        case AF_INET: self.init(bytes: Array(bytes[4..<8]), port: port)
        case AF_INET6: self.init(bytes: Array(bytes[8..<24]), port: port)
        default: return nil
        }
    }

    /// Parses an address literal; nil for anything else, names included.
    public init?(_ text: String, port: Int) {
        // To C the text would end at its first NUL, whatever follows.
        guard !text.utf8.contains(0) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            self.init(bytes: Array(buffer[..<4]), port: port)
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            self.init(bytes: buffer, port: port)
        } else {
            return nil
        }
    }

    /// The same address as the system wants it.
    var storage: (address: sockaddr_storage, length: socklen_t) {
        var storage = sockaddr_storage()
        let isSix = bytes.count == 16
        storage.ss_family = sa_family_t(isSix ? AF_INET6 : AF_INET)
        withUnsafeMutableBytes(of: &storage) { raw in
            raw[2] = UInt8(truncatingIfNeeded: port >> 8)
            raw[3] = UInt8(truncatingIfNeeded: port)
            raw[(isSix ? 8 : 4)...].copyBytes(from: bytes)
        }
        let length = isSix ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        return (storage, socklen_t(length))
    }
}
