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
        if let network = proxies.network(of: head) {
            subjects.append(
                Subject(hash: hash.hash(Array("address ".utf8) + network), rule: settings.byAddress, isName: false))
        }
        return subjects
    }
}
