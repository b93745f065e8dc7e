import Testing

@testable import Accounts

@Suite struct WebAddressTests {
    @Test(
        "What RFC 8252 lets a native app register is taken",
        arguments: [
            "https://app.example.com/callback", "https://app.example.com:8443/callback?from=login",
            "https://[2001:db8::1]/cb", "http://127.0.0.1/callback", "http://127.0.0.1:8400/callback",
            "http://[::1]/callback", "http://[::1]:9/", "com.example.app:/callback", "com.example.app://callback",
            "com.example.app:///callback", "com.example.app2:/a%20b", "https://xn--bcher-kva.example",
        ])
    func redirects(text: String) {
        #expect(WebAddress.isRedirect(text))
    }

    @Test(
        "Everything else is refused",
        arguments: [
            "", "callback", "/callback", "://x", "https:", "https://", "https:///callback", "https:/app.example.com",
            "HTTPS://app.example.com/", "http://app.example.com/", "http://localhost/callback", "http://127.0.0.2/",
            "http://127.0.0.1.example.com/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:/",
            "http://[::1", "http://[::2]/", "http://user@127.0.0.1/", "https://user:secret@app.example.com/",
            "https://app.example.com/#part", "https://*.example.com/", "https://app.example.com/*",
            "https://app..example.com/", "https://-app.example.com/", "https://app.example.com/a b",
            "https://app.example.com/%2", "https://app.example.com/%zz", "https://app.example.com/\u{0}",
            "https://b\u{FC}cher.example/", "https://app.example.com/[x]", "https://app.example.com\\@evil.example/",
            "javascript:alert(1)", "data:text/html,x", "app:/callback", "com.example.app:callback",
            "com.example.app:", ".com:/callback", "com.example.app://user@host/",
        ])
    func refusedRedirects(text: String) {
        #expect(!WebAddress.isRedirect(text))
    }

    @Test("A redirect URI has at most 2,048 bytes")
    func longest() {
        let start = "https://app.example.com/"
        #expect(WebAddress.isRedirect(start + String(repeating: "a", count: 2048 - start.utf8.count)))
        #expect(!WebAddress.isRedirect(start + String(repeating: "a", count: 2049 - start.utf8.count)))
    }

    @Test(
        "A universal link names a web host and may leave the rest open",
        arguments: [
            ("https://app.example.com", true), ("https://app.example.com/open/*", true),
            ("https://*.example.com/open", true), ("https://*.*.example.com/", false), ("https://*/", false),
            ("http://app.example.com/", false), ("app.example.com/open/*", false),
            ("https://app.example.com/#x", false),
            ("https://user@app.example.com/", false), ("https://a*b.example.com/", false),
            ("https://app.example.com/%4*1", false),
        ])
    func universalLinks(text: String, isOne: Bool) {
        #expect(WebAddress.isUniversalLink(text) == isOne)
    }
}
