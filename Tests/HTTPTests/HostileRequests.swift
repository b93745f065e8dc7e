import Testing

/// A request as raw text and what must come of it.
struct RawCase: Sendable, CustomTestStringConvertible {
    enum Fate: Sendable {
        case open, closed
        /// The library itself answers before we are asked, at times with two heads; only the first one is compared.
        case closedByLibrary
    }

    let name: String
    let request: String
    let statuses: [Int]
    let fate: Fate
    /// The handlers that must have run; nothing behind a refused request may be among them.
    let executed: [String]

    init(_ name: String, _ request: String, _ statuses: [Int], _ fate: Fate, _ executed: [String] = []) {
        self.name = name
        self.request = request
        self.statuses = statuses
        self.fate = fate
        self.executed = executed
    }

    var testDescription: String { name }
}

private let next = "GET /fast HTTP/1.1\r\nHost: smuggled\r\n\r\n"
private let many = (0..<1000).map { "X-\($0): y\r\n" }.joined()
private let hundred = (0..<101).map { "X: \($0)\r\n" }.joined()

private func get(_ lines: String, _ path: String = "/fast") -> String {
    "GET \(path) HTTP/1.1\r\n\(lines)\r\n"
}

private func post(_ lines: String, _ body: String = "") -> String {
    "POST /echo HTTP/1.1\r\nHost: x\r\n\(lines)\r\n\(body)"
}

private func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

/// Requests that servers and proxies have disagreed about, and what this server does with each.
///
/// One ambiguity cannot be seen from outside the library's version 0.9: chunk lines that end in a bare line feed.
enum HostileRequests {
    static let wellFormed: [RawCase] = [
        RawCase("two pipelined", get("Host: x\r\n") + get("Host: x\r\n"), [200, 200], .open, ["fast", "fast"]),
        RawCase(
            "two pipelined, answered by tasks", get("Host: x\r\n", "/async") + get("Host: x\r\n", "/async"),
            [200, 200],
            .open, ["async", "async"]),
        RawCase(
            "pipelined behind a task", get("Host: x\r\n", "/async") + get("Host: x\r\n"), [200, 200], .open,
            ["async", "fast"]),
        RawCase(
            "two hundred parameters", get("Host: x\r\n", "/fast?" + String(repeating: "a=1&", count: 200)), [200],
            .open,
            ["fast"]),
        RawCase(
            "a chunked body", post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), [200], .open, ["echo"]),
        RawCase(
            "chunked in any case", post("transfer-encoding: Chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), [200], .open,
            ["echo"]),
        RawCase(
            "a chunk extension", post("Transfer-Encoding: chunked\r\n", "3;a=b\r\nabc\r\n0\r\n\r\n"), [200], .open,
            ["echo"]),
        RawCase(
            "a chunk trailer", post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nX: y\r\n\r\n"), [200], .open,
            ["echo"]),
        RawCase("empty lines in front", "\r\n\r\n" + get("Host: x\r\n"), [200], .open, ["fast"]),
        RawCase("spaces around a value", get("Host:   x  \r\nX:\t y \r\n"), [200], .open, ["fast"]),
        RawCase("an empty value", get("Host: x\r\nX:\r\n"), [200], .open, ["fast"]),
        RawCase("obs-text in a value", get("Host: x\r\nX: caf\u{e9}\r\n"), [200], .open, ["fast"]),
        RawCase("absolute form", get("Host: x\r\n", "http://x/fast"), [200], .open, ["fast"]),
        RawCase("absolute form without path", get("Host: x\r\n", "http://x"), [200], .open, ["root"]),
        RawCase("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", [204], .open),
        RawCase("Expect with a body", post("Expect: 100-continue\r\nContent-Length: 3\r\n"), [100], .open, ["echo"]),
        RawCase(
            "a long target within the limit", get("Host: x\r\n", "/items/" + letters(4000)), [200], .open, ["item"]),
        RawCase("large headers within the limit", get("Host: x\r\nX: \(letters(7000))\r\n"), [200], .open, ["fast"]),
        RawCase("HTTP/1.0 without Host", "GET /fast HTTP/1.0\r\n\r\n", [200], .closed, ["fast"]),
        RawCase(
            "HTTP/1.0 kept alive", "GET /fast HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [200], .open, ["fast"]),
        RawCase("an unknown path", get("Host: x\r\n", "/nowhere"), [404], .open),
        RawCase("a trailing slash", get("Host: x\r\n", "/fast/"), [404], .open),
        RawCase("an empty segment", get("Host: x\r\n", "//fast"), [404], .open),
        RawCase("a dot segment", get("Host: x\r\n", "/items/.."), [404], .open),
        RawCase("a known path, another method", "PUT /fast HTTP/1.1\r\nHost: x\r\n\r\n", [405], .open),
        RawCase("nothing acceptable", get("Host: x\r\nAccept: image/png\r\n"), [406], .open),
    ]

    static let ambiguous: [RawCase] = [
        RawCase(
            "two Content-Length", post("Content-Length: 0\r\nContent-Length: \(next.utf8.count)\r\n", next), [400],
            .closed),
        RawCase(
            "two equal Content-Length", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc" + next), [400], .closed
        ),
        RawCase("a list of lengths", post("Content-Length: 3, 3\r\n", "abc" + next), [400], .closedByLibrary),
        RawCase(
            "length and chunked", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + next),
            [400],
            .closed),
        RawCase(
            "chunked and length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + next),
            [400],
            .closed),
        RawCase("xchunked", post("Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n", "abc" + next), [400], .closed),
        RawCase("gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n" + next), [400], .closed),
        RawCase(
            "identity, then chunked",
            post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + next), [400], .closed),
        RawCase(
            "chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + next),
            [400], .closed),
        RawCase("chunked with a tail", post("Transfer-Encoding: chunked \r\n", "0\r\n\r\n" + next), [400], .closed),
        RawCase("an empty transfer coding", post("Transfer-Encoding:\r\nContent-Length: 3\r\n", "abc"), [400], .closed),
        RawCase(
            "chunked on HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next, [400],
            .closed),
        RawCase("space before a colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + next), [400], .closed),
        RawCase("space before the length's colon", post("Content-Length : 3\r\n", "abc" + next), [400], .closed),
        RawCase("length +3", post("Content-Length: +3\r\n", "abc" + next), [400], .closedByLibrary),
        RawCase("length -1", post("Content-Length: -1\r\n", next), [400], .closedByLibrary),
        RawCase("length abc", post("Content-Length: abc\r\n", next), [400], .closedByLibrary),
        RawCase("empty length", post("Content-Length:\r\n", next), [400], .closedByLibrary),
        RawCase(
            "length beyond 64 bits", post("Content-Length: 99999999999999999999999\r\n", next), [413],
            .closedByLibrary),
        RawCase("length beyond the limit", post("Content-Length: 1048577\r\n"), [413], .closed),
        RawCase("no Host", get("") + next, [400], .closed),
        RawCase("two Hosts", get("Host: x\r\nHost: y\r\n") + next, [400], .closed),
        RawCase("two equal Hosts", get("Host: x\r\nHost: x\r\n") + next, [400], .closed),
        RawCase("empty Host", get("Host:\r\n") + next, [400], .closed),
        RawCase(
            "two Authorizations", get("Host: x\r\nAuthorization: a\r\nAuthorization: b\r\n") + next, [400], .closed),
        RawCase("two content types", post("Content-Type: a/b\r\nContent-Type: c/d\r\n") + next, [400], .closed),
        RawCase("bare LF", "GET /fast HTTP/1.1\nHost: x\n\n" + next, [400], .closed),
        RawCase("bare LF behind one field", get("X: y\nHost: x\r\n") + next, [400], .closed),
        RawCase("bare LF behind the request line", "GET /fast HTTP/1.1\nHost: x\r\n\r\n" + next, [400], .closed),
        RawCase("bare CR in a value", get("Host: x\r\nX: a\rb\r\n") + next, [400], .closed),
        RawCase("NUL in a value", get("Host: x\r\nX: a\0b\r\nY: z\r\n") + next, [400], .closed),
        RawCase("NUL in a name", get("Host: x\r\nX\0: a\r\n") + next, [400], .closedByLibrary),
        RawCase("NUL in the target", get("Host: x\r\n", "/fast\0x") + next, [400], .closed),
        RawCase("a control character in a value", get("Host: x\r\nX: a\u{7}b\r\n") + next, [400], .closed),
        RawCase("DEL in a value", get("Host: x\r\nX: a\u{7f}b\r\n") + next, [400], .closed),
        RawCase("a parenthesis in a name", get("Host: x\r\nX(: a\r\n") + next, [400], .closed),
        RawCase("an empty name", get("Host: x\r\n: a\r\n") + next, [400], .closed),
        RawCase("an empty name in front", get(": a\r\nHost: x\r\n") + next, [400], .closed),
        RawCase("a lone colon", get("Host: x\r\n:\r\n") + next, [400], .closed),
        RawCase("NUL at the end of the last value", get("Host: x\0\r\n") + next, [400], .closed),
        RawCase("bare LF as the empty line", "GET /fast HTTP/1.1\r\nHost: x\r\n\n" + next, [400], .closed),
        RawCase("a folded line", get("Host: x\r\nX: a\r\n b\r\n") + next, [400], .closed),
        RawCase("a line folded twice", get("Host: x\r\nX: a\r\n b\r\n\tc\r\nY: z\r\n") + next, [400], .closed),
        RawCase("a field without colon", get("Host: x\r\nnocolon\r\n") + next, [400], .closedByLibrary),
        RawCase("space in front of the first field", get(" Host: x\r\n") + next, [400], .closedByLibrary),
        RawCase("escaped NUL in the path", get("Host: x\r\n", "/fast%00x") + next, [400], .closed),
        RawCase("escaped NUL in a segment", get("Host: x\r\n", "/items/a%00") + next, [400], .closed),
        RawCase("a cut-off escape", get("Host: x\r\n", "/items/a%2") + next, [400], .closed),
        RawCase("a bad escape", get("Host: x\r\n", "/items/a%zz") + next, [400], .closed),
        RawCase("no UTF-8 in a path", get("Host: x\r\n", "/items/%ff") + next, [400], .closed),
        RawCase("overlong UTF-8 in a path", get("Host: x\r\n", "/items/%c0%af") + next, [400], .closed),
        RawCase("bytes over 127 in the target", get("Host: x\r\n", "/items/\u{e9}") + next, [400], .closed),
        RawCase("a fragment", get("Host: x\r\n", "/fast#x") + next, [400], .closed),
        RawCase("a backslash", get("Host: x\r\n", "/items\\x") + next, [400], .closed),
        RawCase("a relative target", get("Host: x\r\n", "fast") + next, [400], .closed),
        RawCase("an absolute target with user", get("Host: x\r\n", "http://u@x/fast") + next, [400], .closed),
        RawCase("an unknown scheme", get("Host: x\r\n", "ftp://x/fast") + next, [400], .closed),
        // More pairs than the library's memory for a connection holds: it must not be the one to read them.
        RawCase(
            "seven hundred parameters", get("Host: x\r\n", "/fast?" + String(repeating: "a=1&", count: 700)) + next,
            [400],
            .closed),
        RawCase("a bad escape in the query", get("Host: x\r\n", "/fast?a=%zz") + next, [400], .closed),
        RawCase("GET *", get("Host: x\r\n", "*") + next, [400], .closed),
        RawCase("a doubled space behind the method", "GET  /fast HTTP/1.1\r\nHost: x\r\n\r\n" + next, [400], .closed),
        RawCase("a doubled space behind the target", "GET /fast  HTTP/1.1\r\nHost: x\r\n\r\n" + next, [400], .closed),
        RawCase("a space in the target", get("Host: x\r\n", "/items/a b") + next, [400], .closed),
        RawCase(
            "a body where none is taken", get("Host: x\r\nContent-Length: \(next.utf8.count)\r\n") + next, [400],
            .closed),
        RawCase(
            "a body on an unknown path",
            "POST /none HTTP/1.1\r\nHost: x\r\nContent-Length: \(next.utf8.count)\r\n\r\n" + next, [404], .closed),
    ]

    static let unsupported: [RawCase] = [
        RawCase("TRACE", "TRACE /fast HTTP/1.1\r\nHost: x\r\n\r\n" + next, [501], .closed),
        RawCase("CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" + next, [501], .closed),
        RawCase("lower-case get", "get /fast HTTP/1.1\r\nHost: x\r\n\r\n" + next, [501], .closed),
        RawCase("HTTP/1.2", "GET /fast HTTP/1.2\r\nHost: x\r\n\r\n" + next, [505], .closed),
        RawCase("HTTP/2.0", "GET /fast HTTP/2.0\r\nHost: x\r\n\r\n" + next, [505], .closedByLibrary),
        RawCase("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505], .closedByLibrary),
        RawCase("HTTP/0.9", "GET /fast\r\n", [400], .closedByLibrary),
        RawCase("an unknown expectation", post("Expect: more\r\nContent-Length: 3\r\n", "abc") + next, [417], .closed),
        RawCase(
            "two expectations", post("Expect: 100-continue\r\nExpect: x\r\nContent-Length: 3\r\n") + next, [417],
            .closed),
        RawCase(
            "Expect with a body over the limit", post("Expect: 100-continue\r\nContent-Length: 9000000\r\n"), [413],
            .closed),
        RawCase("a target over the limit", get("Host: x\r\n", "/items/" + letters(4200)), [414], .closed),
        RawCase("a target over the memory", get("Host: x\r\n", "/items/" + letters(40000)), [414], .closedByLibrary),
        RawCase("headers over the limit", get("Host: x\r\nX: \(letters(8300))\r\n"), [431], .closed),
        RawCase("headers over the memory", get("Host: x\r\nX: \(letters(40000))\r\n"), [431], .closedByLibrary),
        RawCase("101 headers", get(hundred), [431], .closed),
        RawCase("1000 headers", get(many), [431], .closedByLibrary),
        RawCase(
            "chunk size 0x3", post("Transfer-Encoding: chunked\r\n", "0x3\r\nabc\r\n0\r\n\r\n" + next), [400],
            .closedByLibrary),
        RawCase(
            "chunk size beyond 64 bits", post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\nabc" + next),
            [413], .closedByLibrary),
        RawCase(
            "a media type that is not taken",
            "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}" + next, [415],
            .closed),
        RawCase(
            "no media type where one is needed", "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}" + next,
            [415], .closed),
        RawCase(
            "another character set",
            "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; charset=latin1\r\n"
                + "Content-Length: 2\r\n\r\n{}"
                + next, [415], .closed),
        RawCase(
            "an encoded body", post("Content-Encoding: gzip\r\nContent-Length: 3\r\n", "abc") + next, [415], .closed),
        RawCase(
            "a body that is not admitted", "POST /secret HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + next,
            [401], .closed),
    ]
}
