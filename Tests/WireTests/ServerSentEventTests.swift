import Testing

@testable import Wire

@Suite struct ServerSentEventTests {
    private func written(_ event: ServerSentEvent) -> String { String(decoding: event.encoded(), as: UTF8.self) }

    private func read(_ text: String) throws -> [ServerSentEventParser.Event] {
        var parser = ServerSentEventParser()
        return try parser.feed(Array(text.utf8))
    }

    @Test("An event is written with its fields in order and a blank line")
    func fields() {
        let event = ServerSentEvent(event: "message", id: "v1.abc", retry: 2_500, data: Array("{}".utf8))
        #expect(written(event) == "event: message\nid: v1.abc\nretry: 2500\ndata: {}\n\n")
    }

    @Test(
        "Data is cut into lines at CR, LF and CRLF",
        arguments: [
            ("a", "data: a\n\n"), ("a\nb", "data: a\ndata: b\n\n"), ("a\rb", "data: a\ndata: b\n\n"),
            ("a\r\nb", "data: a\ndata: b\n\n"),
            ("a\n\rb", "data: a\ndata: \ndata: b\n\n"), ("a\n", "data: a\ndata: \n\n"), ("\r\n", "data: \ndata: \n\n"),
            (" a", "data:  a\n\n"),
            ("", "\n"), (": x", "data: : x\n\n"), ("id: 7\n\nevent: x", "data: id: 7\ndata: \ndata: event: x\n\n"),
        ])
    func lines(data: String, text: String) {
        #expect(written(ServerSentEvent(data: Array(data.utf8))) == text)
    }

    @Test("Type and id cannot start a line of their own")
    func injection() {
        let event = ServerSentEvent(event: "a\r\ndata: x\n\n", id: "1\n\rretry: 0\u{0}", data: [])
        #expect(written(event) == "event: adata: x\nid: 1retry: 0\ndata: \n\n")
    }

    @Test("A named event without data is dispatched, a bare retry or id is not")
    func withoutData() throws {
        #expect(try read(written(ServerSentEvent(event: "heartbeat"))).map(\.event) == ["heartbeat"])
        var parser = ServerSentEventParser()
        #expect(try parser.feed(ServerSentEvent(id: "9", retry: 4_000).encoded()).isEmpty)
        #expect(parser.lastEventID == "9")
        #expect(parser.retry == 4_000)
        #expect(written(ServerSentEvent(retry: -1)) == "\n")
    }

    @Test(
        "Streams are read by the rules browsers follow",
        arguments: [
            ("data:a\n\n", ["message|a|"]), ("data: a\n\n", ["message|a|"]), ("data:  a\n\n", ["message| a|"]),
            ("data:\ta\n\n", ["message|\ta|"]),
            ("data:\n\n", ["message||"]), ("data\n\n", ["message||"]), ("data\ndata\n\n", ["message|\n|"]),
            ("data:test", []), ("data:test\n", []),
            ("data:a\r\ndata:b\rdata:c\n\r", ["message|a\nb\nc|"]),
            ("data:1\r:\u{0}\n:\r\ndata:2\n:x\rdata:3\n\n", ["message|1\n2\n3|"]),
            ("event:x\ndata:a\n\ndata:b\n\n", ["x|a|", "message|b|"]), ("event:\ndata:a\n\n", ["message|a|"]),
            ("event: x\n\ndata:a\n\n", ["message|a|"]),
            ("event:x\nevent:y\ndata:a\n\n", ["y|a|"]),
            ("id:1\ndata:a\n\ndata:b\n\nid\ndata:c\n\n", ["message|a|1", "message|b|1", "message|c|"]),
            ("id:1\n\ndata:a\n\n", ["message|a|1"]), ("id:1\u{0}2\ndata:a\n\n", ["message|a|"]), ("data:a\nid:1", []),
            ("id: 1\nid:2\ndata:a\n\n", ["message|a|2"]),
            ("\u{FEFF}data:a\n\n", ["message|a|"]), ("\u{FEFF}\u{FEFF}data:a\ndata:b\n\n", ["message|b|"]),
            ("data:a\n\n\u{FEFF}data:b\n\ndata:c\n\n", ["message|a|", "message|c|"]),
            ("Data:a\n DATA:b\n data:c\ndata :d\nfoo:e\ndata:f\n\n", ["message|f|"]),
            ("data:\u{0}a\n\n", ["message|\u{0}a|"]), ("data:é😀\n\n", ["message|é😀|"]),
            ("data:a:b\n\n", ["message|a:b|"]), ("\n\n\n", []),
            ("data:a\n\n\n\ndata:b\n\n", ["message|a|", "message|b|"]), (":\n\n", []),
        ])
    func rules(stream: String, events: [String]) throws {
        #expect(try read(stream).map { "\($0.event)|\($0.text)|\($0.lastEventID)" } == events)
    }

    @Test(
        "Only digits set the time to wait",
        arguments: [
            ("retry:1000\n", 1_000), ("retry: 1000\n", 1_000), ("retry:1000x\n", nil), ("retry:-1\n", nil),
            ("retry\n", nil), ("retry:\n", nil),
            ("retry:+5\n", nil), ("retry:1 \n", nil), ("retry:99999999999999999999\n", nil),
            ("retry:5\nretry:bad\n", 5), ("retry:٣\n", nil),
        ] as [(String, Int?)])
    func retry(stream: String, milliseconds: Int?) throws {
        var parser = ServerSentEventParser()
        _ = try parser.feed(Array(stream.utf8))
        #expect(parser.retry == milliseconds)
    }

    @Test("The id of an unfinished event is not taken, that of the connection before is kept")
    func resuming() throws {
        var parser = ServerSentEventParser(lastEventID: "41")
        #expect(try parser.feed(Array("data:a\n\nid:43\ndata:b\n".utf8)).map(\.lastEventID) == ["41"])
        #expect(parser.lastEventID == "41")
        #expect(try parser.feed([UInt8(ascii: "\n")]).map(\.lastEventID) == ["43"])
        #expect(parser.lastEventID == "43")
    }

    @Test("A CR ends the event at once, and an LF that comes later changes nothing")
    func lateLineFeed() throws {
        var parser = ServerSentEventParser()
        #expect(try parser.feed(Array("data:a\r\n\r".utf8)).count == 1)
        #expect(try parser.feed(Array("\ndata:b\r\n".utf8)).isEmpty)
        #expect(try parser.feed(Array("\r\n".utf8)).map(\.text) == ["b"])
    }

    @Test("Lines and events beyond the limit end the stream, those at it do not")
    func bounded() throws {
        var parser = ServerSentEventParser(limit: 10)
        #expect(try parser.feed(Array("data:12345\n\n".utf8)).count == 1)
        #expect(throws: ServerSentEventParser.Overflow.self) { try parser.feed(Array("data:123456\n".utf8)) }
        var other = ServerSentEventParser(limit: 10)
        #expect(throws: ServerSentEventParser.Overflow.self) {
            try other.feed(Array("data:1234\ndata:5678\ndata:9\n".utf8))
        }
    }

    @Test("What is written is read back, in pieces of any size")
    func roundTrip() throws {
        var generator = Generator(seed: 92)
        for _ in 0..<200 {
            let texts = (0..<4).map { _ in generator.text(upTo: 20) }
            let stream = texts.flatMap { ServerSentEvent(event: "m", id: "7", data: Array($0.utf8)).encoded() }
            var parser = ServerSentEventParser()
            var events: [ServerSentEventParser.Event] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + generator.number(below: 30))
                events += try parser.feed(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            let expected = texts.map(withLineFeedsOnly)
            #expect(events.map { Array($0.text.utf8) } == expected)
            #expect(events.allSatisfy { $0.event == "m" && $0.lastEventID == "7" })
        }
    }

    private func withLineFeedsOnly(_ text: String) -> [UInt8] {
        let scalars = text.unicodeScalars.split(separator: "\r", omittingEmptySubsequences: false)
        // After a CR, an LF at the front of the next part was the second half of a CRLF.
        let parts = scalars.enumerated().map {
            $0.offset > 0 && $0.element.first == "\n" ? $0.element.dropFirst() : $0.element
        }
        return Array(parts.map { String($0) }.joined(separator: "\n").utf8)
    }
}
