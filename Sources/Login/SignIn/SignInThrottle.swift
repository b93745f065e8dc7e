import API
import Crypto
import HTTP

/// Whose failed sign-ins add up: those of one name, and those from one address.
struct SignInThrottle: Sendable {
    /// A name or an address under a keyed hash: the table names nobody.
    struct Subject: Sendable {
        let hash: [UInt8]
        let rule: ThrottleRule
        let isName: Bool
    }

    let hash: KeyedHash
    let proxies: TrustedProxies
    let settings: Login.Settings

    /// In an order that is the same for all, so that two sign-ins never wait for each other.
    func subjects(of username: String?, at head: RequestHead) -> [Subject] {
        var subjects: [Subject] = []
        if let username {
            subjects.append(Subject(hash: hash.hash("name " + username), rule: settings.byName, isName: true))
        }
        if let network = network(of: head) {
            subjects.append(Subject(hash: hash.hash(network), rule: settings.byAddress, isName: false))
        }
        return subjects
    }

    /// The client's IPv4 address, or the half of an IPv6 address that one customer is given.
    ///
    /// `nil` when the address is not to be trusted, and on loopback, where everybody behind an unnamed proxy would share one.
    private func network(of head: RequestHead) -> [UInt8]? {
        guard let address = proxies.client(of: head) else { return nil }
        let bytes = address.bytes
        let isLoopback = bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 }
        guard !isLoopback else { return nil }
        return Array("address ".utf8) + bytes.prefix(8)
    }
}
