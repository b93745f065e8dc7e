import Testing

@testable import Wire

@Suite struct JSONTests {
    private let sample: JSON = ["flag": true, "text": "x", "count": 3, "list": [1, "two"], "inner": ["deep": .null]]

    @Test("A value answers for its own kind only")
    func kinds() {
        #expect(sample["flag"]?.flag == true)
        #expect(sample["flag"]?.integer == nil)
        #expect(sample["text"]?.text == "x")
        #expect(sample["text"]?.flag == nil)
        #expect(sample["count"]?.integer == 3)
        #expect(sample["count"]?.double == 3)
        #expect(sample["list"]?.items?.count == 2)
        #expect(sample["inner"]?["deep"]?.isNull == true)
        #expect(sample["inner"]?["deep"]?.fields == nil)
        #expect(sample["none"] == nil)
        #expect(sample["text"]?["x"] == nil)
    }

    @Test(
        "Integers are those written as such that fit 64 bits",
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("9223372036854775808", nil), ("1.0", nil), ("1e2", nil), ("-9223372036854775809", nil),
        ] as [(String, Int64?)])
    func integers(text: String, value: Int64?) throws {
        #expect(try JSON.parse(Array(text.utf8)).integer == value)
    }

    @Test("Doubles are the nearest, and what JSON cannot spell is refused")
    func doubles() throws {
        #expect(try JSON.parse(Array("0.1".utf8)).double == 0.1)
        #expect(try JSON.parse(Array("9007199254740993".utf8)).double == 9_007_199_254_740_992)
        #expect(JSON.Number(Double.infinity) == nil)
        #expect(JSON.Number(Double.nan) == nil)
        #expect(JSON.Number(1e300)?.double == 1e300)
    }

    @Test("Objects are equal, and hash the same, in any order; arrays are not")
    func order() throws {
        let one = try JSON.parse(Array(#"{"a":1,"b":{"c":2,"d":3}}"#.utf8))
        let other = try JSON.parse(Array(#"{"b":{"d":3,"c":2},"a":1}"#.utf8))
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.encoded() != other.encoded())
        #expect(one.canonical() == other.canonical())
        #expect(JSON.array([1, 2]) != [2, 1])
        #expect(one != ["a": 1])
        #expect(one != ["a": 1, "c": ["c": 2, "d": 3]])
    }

    @Test("Texts that only look the same are different values and different keys")
    func bytewise() {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(JSON.string(composed) != .string(decomposed))
        let object: JSON.Object = [composed: 1, decomposed: 2]
        #expect(object.count == 2)
        #expect(object[composed]?.integer == 1)
        #expect(object[decomposed]?.integer == 2)
    }

    @Test("Different kinds are different values", arguments: [JSON.null, false, 0, "", [], [:]])
    func kindsDiffer(value: JSON) {
        let all: [JSON] = [.null, false, 0, "", [], [:]]
        #expect(all.filter { $0 == value }.count == 1)
    }

    @Test("Canonical bytes sort keys by their UTF-8 bytes at every depth")
    func canonical() {
        let value: JSON = ["\u{1F600}": 1, "\u{FFFD}": 2, "b": [["z": 1, "y": 2]], "B": 3, "a\u{0}": 4, "a": 5, "": 6]
        let text = String(decoding: value.canonical(), as: UTF8.self)
        #expect(
            text == "{\"\":6,\"B\":3,\"a\":5,\"a\\u0000\":4,\"b\":[{\"y\":2,\"z\":1}],\"\u{FFFD}\":2,\"\u{1F600}\":1}")
    }

    @Test(
        "Members keep their order, are replaced in place and can be removed, few or many", arguments: [3, 8, 9, 10, 40])
    func members(count: Int) {
        var object = JSON.Object()
        for number in 0..<count { object["k\(number)"] = .number(JSON.Number(Int64(number))) }
        object["k1"] = "new"
        #expect(object.keys == (0..<count).map { "k\($0)" })
        #expect(object["k1"]?.text == "new")
        object["k0"] = nil
        object["none"] = nil
        #expect(object["k0"] == nil)
        #expect(object.count == count - 1)
        for number in 2..<count { #expect(object["k\(number)"]?.integer == Int64(number)) }
        object["k0"] = true
        #expect(object.keys.last == "k0")
        #expect(object["k0"]?.flag == true)
    }

    @Test("Of a key given twice the last value stays, in the first place")
    func repeated() {
        let object = JSON.Object([("a", 1), ("b", 2), ("a", 3)])
        #expect(object.map(\.key) == ["a", "b"])
        #expect(object["a"]?.integer == 3)
    }
}
