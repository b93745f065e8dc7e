import Testing

@testable import Wire

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 16)
        body(&writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    @Test("Commas stand between values and nowhere else")
    func commas() {
        let text = written { writer in
            writer.beginArray()
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.integer(1)
            writer.null()
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.bool(true)
            writer.bool(false)
            writer.endArray()
            writer.key("b")
            writer.raw(Array(#"{"x":1}"#.utf8))
            writer.key("c")
            writer.value([1, ["d": "e", "f": .null]])
            writer.endObject()
            writer.string("end")
            writer.endArray()
        }
        #expect(text == #"[{},[],1,null,{"a":[true,false],"b":{"x":1},"c":[1,{"d":"e","f":null}]},"end"]"#)
    }

    @Test("Fields without a value are left out, in any place")
    func fields() throws {
        let uuid = UUID(high: 1, low: 2)
        let text = written { writer in
            writer.beginObject()
            writer.field("first", String?.none)
            writer.field("text", "x")
            writer.field("count", 7)
            writer.field("long", Int64.min)
            writer.field("flag", false)
            writer.field("id", uuid)
            writer.field("noID", UUID?.none)
            writer.field("at", Instant(microseconds: 0))
            writer.field("noCount", Int?.none)
            writer.field("noLong", Int64?.none)
            writer.field("noFlag", Bool?.none)
            writer.field("noAt", Instant?.none)
            writer.endObject()
        }
        let expected =
            #"{"text":"x","count":7,"long":-9223372036854775808,"flag":false,"#
            + #""id":"00000000-0000-0001-0000-000000000002","at":"1970-01-01T00:00:00.000Z"}"#
        #expect(text == expected)
    }

    @Test("Integers are written to the ends of their range", arguments: [0, 9, 10, -1, -10, 1_234_567_890, .max, .min])
    func integers(value: Int) {
        #expect(written { $0.integer(value) } == String(value))
    }

    @Test("Bytes are written as base64 of every length, times and numbers as they are")
    func values() throws {
        #expect(written { $0.base64([]) } == #""""#)
        #expect(written { $0.base64([0xFF]) } == #""/w==""#)
        #expect(written { $0.base64([0xFF, 0xFE, 0xFD, 0xFC, 0xFB]) } == #""//79/Ps=""#)
        #expect(written { $0.instant(Instant(microseconds: -1)) } == #""1969-12-31T23:59:59.999Z""#)
        #expect(written { $0.uuid(UUID(high: .max, low: 0)) } == #""ffffffff-ffff-ffff-0000-000000000000""#)
        let number = try #require(JSON.Number(0.25))
        #expect(written { $0.number(number) } == "0.25")
    }

    @Test(
        "Strings escape what must be escaped and nothing else",
        arguments: [
            ("", ""), ("plain/é😀", "plain/é😀"), ("\"", #"\""#), ("\\", #"\\"#), ("a\"b\\c", #"a\"b\\c"#),
            ("\u{8}\u{9}\u{A}\u{C}\u{D}", #"\b\t\n\f\r"#), ("\u{0}\u{1}\u{1F}", #"\u0000\u0001\u001f"#),
            ("\u{7F}\u{2028}", "\u{7F}\u{2028}"),
        ])
    func strings(text: String, escaped: String) {
        #expect(written { $0.string(text) } == "\"\(escaped)\"")
    }

    @Test(
        "A special byte is escaped wherever it stands in a long string",
        arguments: ["\"", "\\", "\u{1}", "\u{1F}", "\n"])
    func places(special: String) throws {
        for filler in ["a", " ", "!", "#", "[", "]", "\u{7F}", "é", "\u{10FFFF}"] {
            for place in 0..<20 {
                let front = String(repeating: filler, count: place)
                let back = String(repeating: filler, count: 19 - place)
                let text = front + special + back
                #expect(
                    written { $0.string(text) } == "\"" + front + written { $0.string(special) }.dropFirst().dropLast()
                        + back + "\"")
                #expect(try JSON.parse(JSON.string(text).encoded()) == .string(text))
            }
        }
    }

    @Test("Keys made at run time are escaped as strings are")
    func keys() throws {
        let name = "a\"b\n"
        let text = written { writer in
            writer.beginObject()
            writer.key(name)
            writer.integer(1)
            writer.endObject()
        }
        #expect(text == #"{"a\"b\n":1}"#)
    }

    @Test("The parser reads back every string that is written")
    func readBack() throws {
        var generator = Generator(seed: 44)
        for _ in 0..<500 {
            let text = generator.text(upTo: 40)
            #expect(try JSON.parse(Array(written { $0.string(text) }.utf8)) == .string(text))
        }
    }
}
