import Testing

@testable import Wire

@Suite struct FormCodingTests {
    @Test(
        "Percent escapes are decoded",
        arguments: [
            ("", ""), ("a%20b", "a b"), ("%C3%A9%c3%a9", "éé"), ("a+b", "a+b"), ("%2F%2f", "//"), ("%25", "%"),
            ("é", "é"), ("%F0%9F%98%80", "😀"),
        ])
    func percent(text: String, plain: String) {
        #expect(PercentCoding.decode(text) == plain)
    }

    @Test(
        "Bad escapes, NUL and bytes that are not UTF-8 are refused",
        arguments: [
            "%", "%4", "a%", "%zz", "%4g", "%%41", "% 41", "%+1", "%-1", "%00", "a\u{0}", "%FF", "%C3", "%C0%AF",
            "%ED%A0%80", "%F4%90%80%80", "é%A9", "%u0041",
        ])
    func refusedPercent(text: String) {
        #expect(PercentCoding.decode(text) == nil)
        #expect(FormCoding.decode(Array("a=\(text)".utf8)) == nil)
        #expect(FormCoding.decode(Array("\(text)=a".utf8)) == nil)
    }

    @Test("Encoding keeps the unreserved characters and escapes all others")
    func encoded() {
        #expect(PercentCoding.encode("AZaz09-._~") == "AZaz09-._~")
        #expect(PercentCoding.encode("a b+c/d?é%@[`{") == "a%20b%2Bc%2Fd%3F%C3%A9%25%40%5B%60%7B")
        #expect(PercentCoding.decode("a+b", plusIsSpace: true) == "a b")
        #expect(PercentCoding.decode("a%2Bb", plusIsSpace: true) == "a+b")
    }

    @Test(
        "Forms are split into pairs in their order",
        arguments: [
            ("", []), ("a=1", ["a", "1"]), ("a=1&b=2&a=3", ["a", "1", "b", "2", "a", "3"]), ("a", ["a", ""]),
            ("a=", ["a", ""]),
            ("=b", ["", "b"]), ("=", ["", ""]), ("a=b=c", ["a", "b=c"]), ("&&a=1&&", ["a", "1"]),
            ("a+b=c+d", ["a b", "c d"]),
            ("a%3Db=c%26d", ["a=b", "c&d"]), ("n=%E2%82%AC", ["n", "€"]),
        ])
    func decoded(text: String, flat: [String]) throws {
        let pairs = try #require(FormCoding.decode(Array(text.utf8)))
        #expect(pairs.flatMap { [$0.name, $0.value] } == flat)
    }

    @Test("Raw bytes that are not UTF-8 are refused")
    func rawBytes() {
        #expect(FormCoding.decode([UInt8(ascii: "a"), UInt8(ascii: "="), 0xFF]) == nil)
    }

    @Test("The greatest number of pairs is taken, one more is refused")
    func bounded() {
        let most = [String](repeating: "a=1", count: FormCoding.maximumPairs).joined(separator: "&")
        #expect(FormCoding.decode(Array(most.utf8))?.count == FormCoding.maximumPairs)
        #expect(FormCoding.decode(Array((most + "&").utf8))?.count == FormCoding.maximumPairs)
        #expect(FormCoding.decode(Array((most + "&b").utf8)) == nil)
    }

    @Test("Every text comes back from both codings, made of plain ASCII")
    func roundTrip() throws {
        var generator = Generator(seed: 99)
        for _ in 0..<500 {
            let (name, value) = (generator.text(upTo: 10), generator.text(upTo: 10))
            #expect(PercentCoding.decode(PercentCoding.encode(value)) == value)
            let form = FormCoding.encode([(name, value), (value, name)])
            #expect(form.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            let pairs = try #require(FormCoding.decode(Array(form.utf8)))
            #expect(pairs.flatMap { [$0.name, $0.value] } == [name, value, value, name])
        }
        #expect(FormCoding.encode([("a b", "*-._~")]) == "a+b=*-._%7E")
        #expect(FormCoding.encode([]) == "")
    }

    @Test(
        "Text for HTML cannot end an element or an attribute",
        arguments: [
            ("", ""), ("plain é", "plain é"), ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("&amp;", "&amp;amp;"),
        ])
    func html(text: String, escaped: String) {
        #expect(HTMLText.escape(text) == escaped)
    }
}
