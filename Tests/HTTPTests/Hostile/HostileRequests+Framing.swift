// Where a request ends: lengths, codings, chunks and expectations.

extension HostileRequests {
    static let served: [RawCase] = [
        .served("two pipelined", target("/fast") + target("/fast"), "fast", "fast"),
        .served("two pipelined, answered by tasks", target("/async") + target("/async"), "async", "async"),
        .served("pipelined behind a task", target("/async") + target("/fast"), "async", "fast"),
        .served(
            "twelve pipelined", String(repeating: target("/fast") + target("/async"), count: 6), "fast", "async",
            "fast",
            "async", "fast", "async", "fast", "async", "fast", "async", "fast", "async"),
        .served("a body, then a request", post("Content-Length: 3\r\n", "abc") + next, "echo", "fast"),
        .served("chunks, then a request", chunked("3\r\nabc\r\n0\r\n\r\n") + next, "echo", "fast"),
        .served(
            "a body that looks like a request", post("Content-Length: \(next.utf8.count)\r\n", next) + next, "echo",
            "fast"),
        .served("OPTIONS, then a request", line("OPTIONS /fast HTTP/1.1"), status: 204),
        .other("an unknown path, then a request", target("/none") + next, [404, 200], .open, ["fast"]),
        .other("a wrong method, then a request", line("DELETE /fast HTTP/1.1") + next, [405, 200], .open, ["fast"]),
        .other("a request, then rubbish", next + "rubbish\r\n\r\n" + next, [200], .closed, ["fast"]),
        .other(
            "a request, one refused, a request", next + field("X(: a") + next, [200, 400], .closed, ["fast"]),
        .other("Connection: close, then a request", field("Connection: close") + next, [200], .closed, ["fast"]),
        .other("close among other options", field("Connection: te, close") + next, [200], .closed, ["fast"]),
        .served("an upgrade to HTTP/2", field("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c"), "fast"),
        .served("an upgrade to WebSocket", field("Connection: Upgrade\r\nUpgrade: websocket"), "fast"),
        .served("a length of zero on GET", field("Content-Length: 0"), "fast"),
        .served("a length with leading zeros", post("Content-Length: 003\r\n", "abc"), "echo"),
        .served("spaces before a length", post("Content-Length:  \t3\r\n", "abc"), "echo"),
        .served("chunked", chunked("3\r\nabc\r\n0\r\n\r\n"), "echo"),
        .served("chunked in any case", post("transfer-encoding: Chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), "echo"),
        .served("chunk sizes in any case", chunked("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"), "echo"),
        .served("chunk sizes with leading zeros", chunked("0003\r\nabc\r\n000\r\n\r\n"), "echo"),
        .served("a chunk extension", chunked("3;a=b\r\nabc\r\n0\r\n\r\n"), "echo"),
        .served("a quoted chunk extension", chunked("3;a=\"b;c\"\r\nabc\r\n0;d\r\n\r\n"), "echo"),
        .served("a chunk trailer", chunked("3\r\nabc\r\n0\r\nX: y\r\n\r\n"), "echo"),
        .served(
            "a length in the trailer", chunked("3\r\nabc\r\n0\r\nContent-Length: 99\r\n\r\n") + next, "echo", "fast"),
        .served("a coding in the trailer", chunked("0\r\nTransfer-Encoding: gzip\r\n\r\n") + next, "echo", "fast"),
        .other("Expect with a body", post("Expect: 100-continue\r\nContent-Length: 3\r\n"), [100], .open, ["echo"]),
        .other("Expect in any case", post("expect: 100-Continue\r\nContent-Length: 3\r\n"), [100], .open, ["echo"]),
        .other("Expect without a body", field("Expect: 100-continue"), [100, 200], .open, ["fast"])
            .newer([200], .open, ["fast"]),
        .other("Expect on HTTP/1.0", "GET /fast HTTP/1.0\r\nExpect: other\r\n\r\n", [200], .closed, ["fast"]),
        .other("HTTP/1.0 without Host", "GET /fast HTTP/1.0\r\n\r\n", [200], .closed, ["fast"]),
        .served("HTTP/1.0 kept alive", "GET /fast HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "fast"),
    ]

    static let lengths: [RawCase] = [
        .refused("two lengths", post("Content-Length: 0\r\nContent-Length: \(next.utf8.count)\r\n", next), 400),
        .refused("two equal lengths", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc" + next), 400),
        .refused("two lengths on GET", field("Content-Length: 0\r\nContent-Length: 5") + "abcde" + next, 400),
        .refusedByLibrary("a list of lengths", post("Content-Length: 3, 3\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("a space behind a length", post("Content-Length: 3 \r\n", "abc"), 400, heads: 2)
            .newer([200], .open, ["echo"]),
        .refusedByLibrary("length +3", post("Content-Length: +3\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("length -1", post("Content-Length: -1\r\n", next), 400, heads: 2),
        .refusedByLibrary("length abc", post("Content-Length: abc\r\n", next), 400, heads: 2),
        .refusedByLibrary("length 0x3", post("Content-Length: 0x3\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("length 3 3", post("Content-Length: 3 3\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("length 3;", post("Content-Length: 3;\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("length 3.0", post("Content-Length: 3.0\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("length 1e1", post("Content-Length: 1e1\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("a quoted length", post("Content-Length: \"3\"\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("a length in other digits", post("Content-Length: \u{b3}\r\n", "abc" + next), 400, heads: 2),
        .refusedByLibrary("an empty length", post("Content-Length:\r\n", next), 400, heads: 2),
        .refusedByLibrary(
            "a length beyond 64 bits", post("Content-Length: 99999999999999999999999\r\n", next), 413, heads: 2
        ).newerRefuses(400),
        .refused("a length of 64 bits", post("Content-Length: 9223372036854775807\r\n", next), 413),
        .refused("a length beyond the limit", post("Content-Length: 1048577\r\n"), 413),
        .refused("a body where none is taken", field("Content-Length: \(next.utf8.count)") + next, 400),
        .refused("a body on HEAD", line("HEAD /fast HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 400),
        .refused("a body on DELETE", line("DELETE /items/1 HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 400),
        .refused("chunks where none are taken", field("Transfer-Encoding: chunked") + "0\r\n\r\n" + next, 400),
        .refused("a body on an unknown path", line("POST /none HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 404),
        .refused("a body on a wrong method", line("PUT /fast HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 405),
        .refused("a body on OPTIONS", line("OPTIONS /fast HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 204),
        .refused("a body that is not admitted", line("POST /secret HTTP/1.1\r\nContent-Length: 3") + "abc" + next, 401),
        .refused("an unknown expectation", post("Expect: more\r\nContent-Length: 3\r\n", "abc") + next, 417),
        .refused("an empty expectation", post("Expect:\r\nContent-Length: 3\r\n", "abc") + next, 417),
        .refused("two expectations", post("Expect: 100-continue\r\nExpect: x\r\nContent-Length: 3\r\n") + next, 417),
        .refused("Expect twice", post("Expect: 100-continue, 100-continue\r\nContent-Length: 3\r\n") + next, 417),
        .refused("Expect over the limit", post("Expect: 100-continue\r\nContent-Length: 9000000\r\n"), 413),
        .refused(
            "Expect, not admitted", line("POST /secret HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3"), 401),
    ]

    static let codings: [RawCase] = [
        .refused(
            "length and chunked", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + next), 400),
        .refused(
            "chunked and length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + next), 400),
        coding("xchunked", "xchunked"),
        coding("chunkedx", "chunkedx"),
        coding("a quoted coding", "\"chunked\""),
        coding("a coding with a parameter", "chunked;q=1"),
        coding("gzip, chunked", "gzip, chunked"),
        coding("chunked, chunked", "chunked, chunked"),
        coding("chunked, identity", "chunked, identity"),
        coding("a comma in front", ", chunked"),
        coding("a comma behind", "chunked,"),
        coding("identity", "identity"),
        coding("an empty transfer coding", ""),
        coding("a vertical tab in front", "\u{b}chunked").newerRefuses(501),
        coding("identity, then chunked", "identity\r\nTransfer-Encoding: chunked"),
        coding("chunked, then identity", "chunked\r\nTransfer-Encoding: identity").newerRefuses(400),
        coding("chunked twice", "chunked\r\nTransfer-Encoding: chunked").newerRefuses(400),
        // A blank behind a value is no part of it, but version 0.9 would take this coding for an unknown one.
        coding("chunked with a tail", "chunked ").newer([200, 200], .open, ["echo", "fast"]),
        .refused("a space before a coding's colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + next), 400),
        .refused("a tab before a coding's colon", post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n" + next), 400),
        .refused("a folded coding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + next), 400),
        .refused(
            "a coding behind a bare LF", post("X: y\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + next), 400),
        .refused(
            "chunked on HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next, 400),
        .refused("an encoded body", post("Content-Encoding: gzip\r\nContent-Length: 3\r\n", "abc") + next, 415),
    ]

    private static func coding(_ name: String, _ value: String) -> RawCase {
        .refused(name, post("Transfer-Encoding: \(value)\r\n", "0\r\n\r\n" + next), 400).newerRefuses(501)
    }

    static let chunks: [RawCase] = [
        .refusedByLibrary("chunk size 0x3", chunked("0x3\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("chunk size -1", chunked("-1\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("chunk size +3", chunked("+3\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("chunk size 1_0", chunked("1_0\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("chunk size g", chunked("g\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("an empty chunk size", chunked("\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("a space before a chunk size", chunked(" 3\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("a chunk size beyond 64 bits", chunked("fffffffffffffffff\r\nabc" + next), 413),
        .refusedByLibrary("a chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("a chunk shorter than its size", chunked("5\r\nabc\r\n0\r\n\r\n" + next), 400),
        .refusedByLibrary("no line end behind a chunk", chunked("3\r\nabc0\r\n\r\n" + next), 400),
        .refusedByLibrary("a bare CR behind a chunk size", chunked("3\rabc\r\n0\r\n\r\n" + next), 400),
        // Version 0.9 takes it, as nobody in front does who frames bodies anew; nothing behind it is run twice.
        .served("chunk lines that end in a bare LF", chunked("3\nabc\n0\n\n"), "echo").newerRefuses(400),
    ]
}
