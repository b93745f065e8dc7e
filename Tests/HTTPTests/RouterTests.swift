import Testing

@testable import HTTP

@Suite struct RouterTests {
    private static let handler = ClosureHandler { _ in .now(Response(status: 204)) }

    private static func router(_ routes: [(HTTP.Method, String)]) throws(RouterFault) -> Router {
        try Router(routes.map { (Route($0.0, $0.1), handler) })
    }

    @Test(arguments: [
        ["/v1/devices/{device}", "/v1/devices/self"],
        ["/v1/devices/{device}", "/v1/{kind}/self"],
        ["/v1/{a}/b/{c}", "/v1/a/{b}/c"],
        ["/a", "/a"],
        ["/", "/"],
    ])
    func refusesRoutesThatOnePathWouldMatchBoth(_ patterns: [String]) {
        #expect(throws: RouterFault.overlap(.get, patterns[0], patterns[1])) {
            try RouterTests.router(patterns.map { (.get, $0) })
        }
    }

    @Test func letsMethodsSharePatterns() throws {
        let router = try RouterTests.router([(.get, "/a/{b}"), (.put, "/a/self"), (.get, "/a/{b}/c"), (.get, "/a")])
        #expect(
            router.table.map { "\($0.0.rawValue) \($0.1)" } == ["GET /a/{b}", "PUT /a/self", "GET /a/{b}/c", "GET /a"])
    }

    @Test(arguments: [
        "", "a", "//", "/a/", "/a//b", "/{}", "/{a", "/a}", "/{a b}", "/a{b}", "/%61", "/a b", "/.", "/../a",
    ])
    func refusesMalformedPatterns(_ pattern: String) {
        #expect(throws: RouterFault.malformedPattern(pattern)) { try RouterTests.router([(.get, pattern)]) }
    }

    @Test func refusesAParameterNamedTwiceAndReservedMethods() {
        #expect(throws: RouterFault.duplicateParameter("/{a}/{a}")) { try RouterTests.router([(.get, "/{a}/{a}")]) }
        #expect(throws: RouterFault.reservedMethod(.head, "/a")) { try RouterTests.router([(.head, "/a")]) }
        #expect(throws: RouterFault.reservedMethod(.options, "/a")) { try RouterTests.router([(.options, "/a")]) }
    }

    @Test(arguments: [
        ("/", "0"), ("/a", "1"), ("/a/b", "2 x=b"), ("/a/b%2Fc", "2 x=b/c"), ("/a/%C3%A9", "2 x=é"),
        ("/%61", "missing"),
        ("/%61/b", "missing"), ("/a/b/%63", "missing"), ("/a/%62/c", "3 x=b"),
        ("/a/b/c", "3 x=b"), ("/a/self", "2 x=self"), ("/a/", "missing"), ("//a", "missing"), ("/b", "missing"),
        ("/a/b/d", "missing"), ("/a/b/c/d", "missing"), ("/A", "missing"), ("/a/.", "missing"),
        ("/a/%2e%2e", "missing"),
        ("/a/%", "malformed"), ("/a/%4", "malformed"), ("/a/%00", "malformed"), ("/a/%ff", "malformed"),
        ("/a/%gg", "malformed"), ("/d/x", "not allowed PUT OPTIONS"), ("/a+b", "missing"), ("/e/+", "5 x=+"),
    ])
    func matchesSegmentBySegmentBeforeDecoding(_ path: String, _ expected: String) throws {
        let router = try RouterTests.router([
            (.get, "/"), (.get, "/a"), (.get, "/a/{x}"), (.get, "/a/{x}/c"), (.put, "/d/{x}"), (.get, "/e/{x}"),
        ])
        #expect(RouterTests.describe(router.match(.get, path)) == expected)
    }

    @Test func servesHeadWhereItServesGetAndListsWhatIsAllowed() throws {
        let router = try RouterTests.router([(.get, "/a/{x}"), (.put, "/a/self"), (.delete, "/a/{x}")])
        #expect(RouterTests.describe(router.match(.head, "/a/1")) == "0 x=1")
        #expect(RouterTests.describe(router.match(.post, "/a/1")) == "not allowed GET HEAD DELETE OPTIONS")
        #expect(RouterTests.describe(router.match(.post, "/a/self")) == "not allowed GET HEAD PUT DELETE OPTIONS")
        #expect(RouterTests.describe(router.match(.get, "/a/self")) == "0 x=self")
        #expect(RouterTests.describe(router.match(.put, "/a/self")) == "1")
        #expect(router.allMethods == [.get, .head, .put, .delete, .options])
    }

    private static func describe(_ match: Router.Match) -> String {
        switch match {
        case .found(let index, let parameters):
            ([String(index)] + parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        case .missing: "missing"
        case .malformed: "malformed"
        case .notAllowed(let methods): "not allowed \(methods.map(\.rawValue).joined(separator: " "))"
        }
    }
}

@Suite struct MediaTypeTests {
    @Test(
        arguments: [
            ([], ["application/json"], true),
            (["*/*"], ["application/json"], true),
            (["application/*"], ["application/json"], true),
            (["application/json"], ["application/json"], true),
            (["Application/JSON; q=0.5"], ["application/json"], true),
            (["text/html, application/json;q=0.1"], ["application/json"], true),
            (["text/html", "application/json"], ["application/json"], true),
            (["text/html"], ["application/json"], false),
            (["application/json;q=0"], ["application/json"], false),
            (["application/json;q=0.0, */*"], ["application/json"], false),
            (["*/*;q=0"], ["application/json"], false),
            (["*/*;q=0, application/json"], ["application/json"], true),
            (["text/*;q=0, */*"], ["text/event-stream"], false),
            (["text/event-stream"], ["application/json", "text/event-stream"], true),
            (["image/png"], [], true),
            ([""], ["application/json"], true),
        ] as [([String], [String], Bool)])
    func negotiates(_ accept: [String], _ produces: [String], _ expected: Bool) {
        #expect(MediaType.accepts(accept, produces: produces) == expected)
    }

    @Test(
        arguments: [
            ("application/json", true), ("Application/Json", true), ("application/json; charset=utf-8", true),
            ("application/json;charset=\"UTF-8\"", true), ("application/json; charset=latin1", false),
            ("application/jsonx", false), ("text/plain", false), (nil, false), ("", false),
            // A blank with an accent on it is no blank, so this is a parameter that nobody knows.
            ("application/json; \u{301}charset=latin1", true),
        ] as [(String?, Bool)])
    func takesOnlyTheMediaTypesOfTheRoute(_ contentType: String?, _ expected: Bool) {
        #expect(MediaType.isOne(contentType, of: ["application/json"]) == expected)
    }
}

@Suite struct ValueTests {
    @Test func keepsControlCharactersOutOfResponseHeaders() {
        var response = Response(status: 200, headers: [("A\r\nB", "x\r\nSet-Cookie: y\0")])
        response.add("C", "ok")
        response.set("c", "é")
        #expect(response.headers.map { "\($0.0)=\($0.1)" } == ["A--B=x  Set-Cookie: y ", "c=é"])
        #expect(response["C"] == "é")
    }

    @Test func countsTheAddressesOfOneSiteTogether() throws {
        let networks = try ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"]
            .map { try #require(Address($0, port: 1)).network }
        #expect(networks[0] != networks[1])
        #expect(networks[2] == networks[3])
        #expect(networks[2] != networks[4])
        for (text, isLoopback) in [
            ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("::2", false),
            ("128.0.0.1", false), ("2001:db8::1", false),
        ] {
            #expect(Address(text, port: 1)?.isLoopback == isLoopback, "\(text)")
        }
    }

    @Test func looksHeadersUpWithoutCaseAndInOrder() {
        let headers = Headers([("A", "1"), ("b", "2"), ("a", "3")])
        #expect(headers["a"] == "1")
        #expect(headers.values("A") == ["1", "3"])
        #expect(headers["c"] == nil)
    }

    @Test(
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("2001:DB8:0:0::1", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("localhost", nil), ("1.2.3", nil), ("", nil), ("1.2.3.4:80", nil),
        ] as [(String, String?)])
    func readsAddressLiteralsOnly(_ text: String, _ expected: String?) {
        let address = Address(text, port: 80)
        #expect(address?.text == expected)
        #expect(address.flatMap { Address($0.storage.address) } == address)
    }
}
