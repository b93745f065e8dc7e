import Testing

@testable import Login

@Suite struct RedirectURITests {
    private let registered = [
        "http://127.0.0.1/callback", "http://[::1]:9000/cb?x=1", "https://app.example.com/done",
        "com.example.app:/done",
    ]

    @Test(
        "Registered URIs match exactly, and loopback ones on any port",
        arguments: [
            "http://127.0.0.1/callback", "http://127.0.0.1:49152/callback", "http://[::1]/cb?x=1",
            "http://[::1]:1/cb?x=1", "https://app.example.com/done", "com.example.app:/done",
        ])
    func accepted(uri: String) {
        #expect(RedirectURI.isRegistered(uri, among: registered))
    }

    @Test(
        "Anything that differs elsewhere is refused",
        arguments: [
            "", "http://127.0.0.1/callback/", "http://127.0.0.1/callbac", "http://127.0.0.1/Callback",
            "http://127.0.0.1:0/callback", "http://127.0.0.1:65536/callback", "http://127.0.0.1:/callback",
            "http://127.0.0.1:1x/callback", "http://127.0.0.1:1@evil.example/callback",
            "http://127.0.0.1.evil.example/callback", "http://127.0.0.1@evil.example/callback",
            "http://127.0.0.2/callback", "http://localhost/callback", "HTTP://127.0.0.1/callback",
            "http://127.0.0.1/callback?x=1", "http://127.0.0.1/callback#x", "http://[::1]/cb",
            "https://127.0.0.1:1/callback", "https://app.example.com:8443/done", "https://app.example.com/done?x",
            "https://app.example.com.evil.example/done", "com.example.app:/done/more",
            "https://app.example.com/do\u{6E}e\u{301}",
        ])
    func refused(uri: String) {
        #expect(!RedirectURI.isRegistered(uri, among: registered))
    }

    @Test("A port that ends the URI, or comes before its query, may differ too")
    func bare() {
        #expect(RedirectURI.isRegistered("http://127.0.0.1:5", among: ["http://127.0.0.1"]))
        #expect(RedirectURI.isRegistered("http://127.0.0.1:5?a=b", among: ["http://127.0.0.1?a=b"]))
        #expect(!RedirectURI.isRegistered("http://127.0.0.1:5/", among: ["http://127.0.0.1"]))
    }

    @Test("An answer goes into the query, behind what is there, and cannot leave it")
    func answer() {
        #expect(
            RedirectURI.answer("com.example.app:/done", [("code", "a b&c=d#e"), ("state", nil)])
                == "com.example.app:/done?code=a%20b%26c%3Dd%23e")
        #expect(RedirectURI.answer("https://a.example/?x=1", [("state", "é")]) == "https://a.example/?x=1&state=%C3%A9")
    }
}
