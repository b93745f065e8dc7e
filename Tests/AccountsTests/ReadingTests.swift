import API
import Domain
import HTTP
import Testing
import Wire

@Suite("What is read from clients and operators is taken in one spelling")
struct ReadingTests {
    @Test("A field whose name only looks like a known one is refused as unknown")
    func lookAlike() {
        // The Kelvin sign: to Swift's `String` it equals a K.
        let request = request(body: "{\"identityKey\": \"a\", \"identity\u{212A}ey\": \"b\"}")
        #expect(throws: Failure.self) { try request.parse { $0.text("identityKey", 1...8) } }
    }

    @Test(
        "An address with anything behind it, and a network with a sign, are no trusted proxies",
        arguments: [
            "10.0.0.1\u{0}", "10.0.0.1\u{0}/8", "[::1]x", "[::1]:", "[::1]:99999", "10.0.0.1:", "10.0.0.1:8o",
            "10.0.0.0/+8",
            "10.0.0.0/-0", "10.0.0.0/33", "10.0.0.0/",
        ])
    func badNetworks(text: String) {
        #expect(TrustedProxies([text]) == nil)
    }

    @Test(
        "Addresses, with a port or in brackets, and networks are",
        arguments: ["10.0.0.1", "10.0.0.1:80", "[::1]", "[::1]:443", "2001:db8::/32", "10.0.0.0/8", "0.0.0.0/0"])
    func goodNetworks(text: String) {
        #expect(TrustedProxies([text]) != nil)
    }

    @Test("An address that a C string would end early is none")
    func hiddenTail() {
        #expect(Address("127.0.0.1\u{0}.example", port: 80) == nil)
        #expect(Address("::1\u{0}", port: 80) == nil)
    }

    private func request(body: String) -> Request {
        let head = RequestHead(method: .post, rawPath: "/", peer: Address(bytes: [127, 0, 0, 1], port: 1))
        return Request(head: head, body: Array(body.utf8))
    }
}
