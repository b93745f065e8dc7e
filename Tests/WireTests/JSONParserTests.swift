import Testing

@testable import Wire

private func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

@Suite struct JSONParserTests {
    @Test(
        "What the grammar allows is read and written without white space",
        arguments: [
            ("null", "null"), ("true", "true"), (" \t\r\n false \t\r\n", "false"), ("0", "0"), ("-0", "0"),
            ("-1", "-1"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("9223372036854775807", "9223372036854775807"),
            ("-0.0", "-0.0"), ("1.50", "1.50"), ("1e5", "1e5"), ("1E+05", "1E+05"), ("1e-300", "1e-300"),
            ("0e0", "0e0"),
            ("0.000000000000000000000000000000000000", "0.000000000000000000000000000000000000"),
            ("1.7976931348623157e308", "1.7976931348623157e308"), ("5e-324", "5e-324"),
            (#""""#, #""""#), (#""a""#, #""a""#), (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#),
            (#""\u0041\u00e9\u20AC""#, #""Aé€""#),
            (#""\ud83d\uDE00""#, #""😀""#), (#""\uDBFF\uDFFF""#, "\"\u{10FFFF}\""),
            (#""\u0001\u001f""#, #""\u0001\u001f""#),
            ("\"\u{7F}\u{2028}\u{2029}\"", "\"\u{7F}\u{2028}\u{2029}\""), (#""\uFFFF\uFEFF""#, "\"\u{FFFF}\u{FEFF}\""),
            (#""日本""#, #""日本""#),
            ("[]", "[]"), ("[ ]", "[]"), ("[1]", "[1]"), (" [ 1 , 2 , [ ] ] ", "[1,2,[]]"), ("{}", "{}"), ("{ }", "{}"),
            (#"{ "b" : 1 , "a" : { } }"#, #"{"b":1,"a":{}}"#), (#"{"":""}"#, #"{"":""}"#),
            (#"{"a":1,"A":2}"#, #"{"a":1,"A":2}"#),
            ("{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"\u{E9}\":1,\"e\u{301}\":2}"),
            (#"[null,true,false,"x",{}]"#, #"[null,true,false,"x",{}]"#),
        ])
    func accepted(text: String, written: String) throws {
        #expect(String(decoding: try parse(text).encoded(), as: UTF8.self) == written)
    }

    @Test(
        "Anything else is refused at the byte where it goes wrong",
        arguments: [
            ("", 0), ("  ", 2), ("nul", 0), ("nulL", 0), ("True", 0), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1),
            ("undefined", 0),
            ("+1", 0), ("-", 1), ("--1", 1), ("01", 1), ("-01", 2), ("00", 1), ("1.", 2), (".5", 0), ("1.e5", 2),
            ("1e", 2), ("1e+", 3),
            ("0x10", 1), ("1_000", 1), ("1,5", 1), ("1 2", 2), ("1.2.3", 3), ("１", 0),
            ("12345678901234567890123456789012345678901", 0),
            ("1e309", 0), ("-1e400", 0), ("1e-400", 0), ("1e1000", 0), ("0e1000", 0), ("1e-99999", 0), ("1e0001", 0),
            ("\"", 1), (#""abc"#, 4), (#""\"#, 2), (#""\x41""#, 2), (#""\u12""#, 5), (#""\u12G4""#, 5),
            (#""\U0041""#, 2),
            (#""\ud800""#, 1), (#""\udc00""#, 1), (#""\ud800\ud800""#, 1), (#""\ud800x""#, 1), (#""\ud800\n""#, 1),
            (#""\u0000""#, 1),
            ("\"a\u{0}b\"", 2), ("\"a\nb\"", 2), ("\"\t\"", 1), ("\"\u{1F}\"", 1), ("'a'", 0), ("a", 0),
            ("[", 1), ("]", 0), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1}", 2), ("[1]]", 3),
            ("[1],", 3),
            ("{", 1), ("}", 0), (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":1"#, 6), (#"{"a":1,}"#, 7), (#"{"a":1]"#, 6),
            ("{1:2}", 1),
            ("{a:1}", 1), ("{'a':1}", 1), (#"{"a" 1}"#, 5), (#"{"a"::1}"#, 5), (#"{,"a":1}"#, 1),
            (#"{"a":1 "b":2}"#, 7), ("{null:1}", 1),
            (#"{"a":1,"a":1}"#, 7), (#"{"a":1,"\u0061":2}"#, 7), (#"[{"x":{"k":1,"k":2}}]"#, 13),
            ("// note\n1", 0), ("/* note */1", 0), ("1 # note", 2), ("\u{FEFF}1", 0), ("\u{A0}1", 0), ("\u{B}1", 0),
            ("\u{C}1", 0), ("1\u{0}", 1),
        ])
    func refused(text: String, offset: Int) {
        let fault = #expect(throws: JSON.Fault.self) { try parse(text) }
        #expect(fault?.offset == offset, "\(fault?.description ?? "accepted")")
    }

    @Test(
        "Bytes that are not UTF-8 are refused wherever they stand",
        arguments: [
            [0x80], [0xC3], [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
            [0xF0, 0x80, 0x80, 0xAF],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFF],
            [0xFE],
            [0xE2, 0x82], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        #expect(throws: JSON.Fault.self) { try JSON.parse(quoted) }
        #expect(throws: JSON.Fault.self) { try JSON.parse(bytes) }
        #expect(throws: JSON.Fault.self) { try JSON.parse([UInt8(ascii: "1")] + bytes) }
    }

    @Test(
        "UTF-16 and UTF-32 are refused",
        arguments: [
            [0xFF, 0xFE, 0x31, 0x00], [0xFE, 0xFF, 0x00, 0x31], [0x31, 0x00], [0x00, 0x31], [0x00, 0x00, 0x00, 0x31],
        ] as [[UInt8]])
    func otherEncodings(bytes: [UInt8]) {
        #expect(throws: JSON.Fault.self) { try JSON.parse(bytes) }
    }

    @Test("Nesting is taken to the limit and not beyond, without using up the stack")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try parse(nested(32)) }
        #expect(throws: JSON.Fault.self) { try parse(nested(33)) }
        #expect(throws: JSON.Fault.self) { try parse(String(repeating: "[", count: 1_000_000)) }
        #expect(throws: JSON.Fault.self) { try parse(String(repeating: #"{"a":"#, count: 100_000)) }
        #expect(throws: Never.self) { try JSON.parse(Array("1".utf8), maximumDepth: 0) }
        #expect(throws: JSON.Fault.self) { try JSON.parse(Array("[]".utf8), maximumDepth: 0) }
        #expect(throws: Never.self) { try JSON.parse(Array(#"{"a":[{}]}"#.utf8), maximumDepth: 3) }
        #expect(throws: JSON.Fault.self) { try JSON.parse(Array(#"{"a":[{}]}"#.utf8), maximumDepth: 2) }
    }

    @Test("Every value comes back from its bytes, and none of its beginnings is a whole value")
    func roundTrip() throws {
        var generator = Generator(seed: 8259)
        for _ in 0..<300 {
            let value = JSON.array([generator.json(depth: 3)])
            let bytes = value.encoded()
            #expect(try JSON.parse(bytes) == value)
            #expect(try JSON.parse(value.canonical()) == value)
            let end = generator.number(below: bytes.count)
            #expect(throws: JSON.Fault.self) { try JSON.parse(Array(bytes[..<end])) }
        }
    }

    @Test("Damaged bytes are refused or read, and what is read comes back")
    func damaged() throws {
        var generator = Generator(seed: 8260)
        for _ in 0..<3_000 {
            var bytes = generator.json(depth: 2).encoded()
            for _ in 0...generator.number(below: 3) {
                bytes[generator.number(below: bytes.count)] = UInt8(truncatingIfNeeded: generator.next())
            }
            guard let value = try? JSON.parse(bytes) else { continue }
            #expect(try JSON.parse(value.encoded()) == value)
        }
    }

    @Test("A hundred thousand keys are read in one pass, and a late repetition is still found")
    func manyKeys() throws {
        let members = (0..<100_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
        let object = try parse("{\(members)}")
        #expect(object["key99999"]?.integer == 99_999)
        #expect(throws: JSON.Fault.self) { try parse("{\(members),\"key5\":0}") }
    }
}
