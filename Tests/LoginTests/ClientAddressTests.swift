import API
import HTTP
import Testing

/// Whose address a request is said to come from.
@Suite struct ClientAddressTests {
    private static let peer = "10.0.0.1"

    private static func client(_ forwarded: [String], peer: String = peer, trusting: [String]) throws -> String? {
        let proxies = try #require(TrustedProxies(trusting))
        let address = try #require(Address(peer, port: 4711))
        let headers = Headers(forwarded.map { ("X-Forwarded-For", $0) })
        return proxies.client(of: RequestHead(method: .get, rawPath: "/", headers: headers, peer: address))?.text
    }

    @Test("Without trusted proxies the peer is the client, whatever it says of others")
    func untrusted() throws {
        #expect(try Self.client(["192.0.2.7"], trusting: []) == Self.peer)
        #expect(try Self.client(["192.0.2.7"], trusting: ["10.0.0.2"]) == Self.peer)
        #expect(try Self.client(["192.0.2.7"], peer: "2001:db8::1", trusting: ["10.0.0.0/8"]) == "2001:db8::1")
    }

    @Test(
        "A trusted proxy's last word counts, not what its client claimed before it",
        arguments: [
            (["192.0.2.7"], "192.0.2.7"), (["203.0.113.9, 192.0.2.7"], "192.0.2.7"),
            (["203.0.113.9", "192.0.2.7"], "192.0.2.7"), (["192.0.2.7,10.0.0.2"], "192.0.2.7"),
            (["203.0.113.9 , 192.0.2.7 ,10.0.0.2, 10.0.0.3"], "192.0.2.7"), (["192.0.2.7,"], "192.0.2.7"),
            (["192.0.2.7:5555"], "192.0.2.7"),
            (["2001:db8::7"], "2001:db8::7"), (["[2001:db8::7]:5555"], "2001:db8::7"),
            (["::ffff:192.0.2.7"], "192.0.2.7"),
        ])
    func forwarded(_ values: [String], _ client: String) throws {
        #expect(try Self.client(values, trusting: ["10.0.0.0/8"]) == client)
    }

    @Test(
        "A trusted proxy that names nobody, only proxies, or what is no address leaves the client unknown",
        arguments: [[], [""], ["10.0.0.2"], ["unknown"], ["192.0.2.7, unknown"], ["_hidden"]])
    func unknown(_ values: [String]) throws {
        #expect(try Self.client(values, trusting: ["10.0.0.0/8"]) == nil)
    }

    @Test("Networks end where their prefix does")
    func networks() throws {
        #expect(try Self.client(["192.0.2.7"], peer: "10.0.0.127", trusting: ["10.0.0.0/25"]) == "192.0.2.7")
        #expect(try Self.client(["192.0.2.7"], peer: "10.0.0.128", trusting: ["10.0.0.0/25"]) == "10.0.0.128")
        #expect(TrustedProxies(["10.0.0.0/33"]) == nil)
        #expect(TrustedProxies(["proxy.example"]) == nil)
    }
}
