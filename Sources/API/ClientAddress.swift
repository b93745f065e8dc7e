public import HTTP

/// The client's address, as far as it can be believed.
///
/// `X-Forwarded-For` is read from right to left through hops that the operator trusts; the first that is not trusted is
/// the client. Without a trusted proxy in front it is the peer itself.
public struct TrustedProxies: Sendable {
    /// Nobody in front: the peer is the client.
    public static let none = TrustedProxies(networks: [])

    private let networks: [Network]

    private init(networks: [Network]) { self.networks = networks }

    /// Reads addresses and CIDR networks; `nil` when one is neither.
    public init?(_ list: [String]) {
        let networks = list.compactMap(Network.init)
        guard networks.count == list.count else { return nil }
        self.networks = networks
    }

    public var isEmpty: Bool { networks.isEmpty }

    /// The client's address, or `nil` when nothing trustworthy is known of it: a loopback peer that forwards for
    /// others, say, is nobody.
    public func client(of head: RequestHead) -> Address? {
        guard isTrusted(head.peer) else { return head.peer }
        let hops = head.headers.values("x-forwarded-for").flatMap { $0.split(separator: ",") }
        for hop in hops.reversed() {
            guard let address = Address(text: String(hop.filter { $0 != " " && $0 != "\t" })) else { return nil }
            guard isTrusted(address) else { return address }
        }
        return nil
    }

    /// The client's IPv4 address, or the half of an IPv6 address that one customer is given.
    ///
    /// `nil` when the address is not to be trusted, and on loopback, where everybody behind an unnamed proxy would share one.
    public func network(of head: RequestHead) -> [UInt8]? {
        guard let address = client(of: head) else { return nil }
        return address.isLoopback ? nil : address.network
    }

    /// Whether what this peer says of others is believed.
    public func isTrusted(_ address: Address) -> Bool { networks.contains { $0.contains(address) } }
}

/// An address or a CIDR network.
private struct Network: Sendable {
    let bytes: [UInt8]
    let bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = Address(text: String(parts[0])) else { return nil }
        bytes = address.bytes
        guard parts.count == 2 else {
            bits = bytes.count * 8
            return
        }
        guard let bits = Int64(decimal: parts[1]), bits <= bytes.count * 8 else { return nil }
        self.bits = Int(bits)
    }

    func contains(_ address: Address) -> Bool {
        guard address.bytes.count == bytes.count else { return false }
        let whole = bits / 8
        guard address.bytes.prefix(whole) == bytes.prefix(whole) else { return false }
        guard bits % 8 != 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (bits % 8))
        return address.bytes[whole] & mask == bytes[whole] & mask
    }
}

extension Address {
    /// An address as headers write it: `192.0.2.1`, `2001:db8::1`, also in brackets or with a port.
    fileprivate init?(text: String) {
        var host = Substring(text)
        var rest: Substring = ""
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            rest = host[host.index(after: end)...]
            host = host[host.index(after: host.startIndex)..<end]
        } else if host.filter({ $0 == ":" }).count == 1, let colon = host.firstIndex(of: ":") {
            rest = host[colon...]
            host = host[..<colon]
        }
        let isPort = rest.first == ":" && Int64(decimal: rest.dropFirst()).map { $0 <= 65_535 } ?? false
        guard rest.isEmpty || isPort else { return nil }
        self.init(String(host), port: 0)
    }
}
