import Domain
import Testing
import Wire

@testable import Configuration

@Suite struct ValuesTests {
    @Test("Values with readable keys and no null pass, and are written in the order they came in")
    func accepted() throws {
        let values = try Values(object(#"{"b": 1.50, "a": [null], "c": {"deep": null}}"#), limit: 100)
        #expect(String(decoding: values.encoded, as: UTF8.self) == #"{"b":1.50,"a":[null],"c":{"deep":null}}"#)
    }

    @Test(
        "Values that cannot be published are refused with a pointer",
        arguments: [
            (#"{"a": null}"#, "/values/a"),
            (#"{"a/b~c": null}"#, "/values/a~1b~0c"),
            (#"{"": 1}"#, "/values"),
            (#"{"a\nb": 1}"#, "/values"),
            ("{\"\(String(repeating: "k", count: 129))\": 1}", "/values"),
        ])
    func refused(text: String, pointer: String) throws {
        let failure = #expect(throws: Failure.self) { try Values(try object(text), limit: 1_000) }
        guard case .invalid(let faults)? = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(faults.map(\.pointer) == [pointer])
    }

    @Test("The limit is on the encoded values, to the byte")
    func limit() throws {
        let text = #"{"a": "0123456789"}"#
        #expect(try Values(object(text), limit: 18).encoded.count == 18)
        let failure = #expect(throws: Failure.self) { try Values(try object(text), limit: 17) }
        guard case .tooLarge? = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test("More than ten thousand keys are refused")
    func manyKeys() throws {
        let members = (0...10_000).map { (key: "k\($0)", value: JSON.bool(true)) }
        #expect(throws: Failure.self) { try Values(JSON.Object(members), limit: 1_000_000) }
        #expect(try Values(JSON.Object(members.dropLast()), limit: 1_000_000).object.count == 10_000)
    }

    @Test("Changes are those of the keys, sorted by their bytes")
    func changes() throws {
        let old = try object(#"{"same": [1, 2], "gone": 1, "z": 1, "number": 1}"#)
        let new = try object(#"{"z": 2, "é": true, "same": [1, 2], "Z": null, "number": 1.0}"#)
        let changes = Change.between(old, new)
        #expect(changes.map(\.key) == ["Z", "gone", "number", "z", "é"])
        #expect(changes.map { $0.before != nil } == [false, true, true, true, false])
        #expect(changes.map { $0.after != nil } == [true, false, true, true, true])
    }

    @Test("Objects that differ in the order of their keys only do not differ")
    func order() throws {
        #expect(
            Change.between(
                try object(#"{"a": 1, "b": {"c": 1, "d": 2}}"#), try object(#"{"b": {"d": 2, "c": 1}, "a": 1}"#)
            ).isEmpty)
    }

    @Test("The facts of a publication name at most a hundred keys and never a value")
    func facts() {
        let changes = (0..<150).map { Change(key: "key\($0)", before: nil, after: "secret") }
        let facts = JSON.object(Change.facts(changes, revision: 3))
        #expect(facts["keyCount"]?.integer == 150)
        #expect(facts["keys"]?.items?.count == 100)
        #expect(!facts.description.contains("secret"))
    }
}

@Suite struct PatchTests {
    @Test("A patch sets and unsets what differs, and leaves out what is empty")
    func patch() throws {
        let old = try object(#"{"a": 1, "b": 2, "c": 3}"#)
        #expect(
            try data(old, #"{"a": 1, "b": 5, "d": []}"#)
                == #"{"from":3,"revision":5,"set":{"b":5,"d":[]},"unset":["c"]}"#)
        #expect(try data(old, #"{"a": 1, "b": 2, "c": 4}"#) == #"{"from":3,"revision":5,"set":{"c":4}}"#)
        #expect(try data(old, #"{"a": 1, "b": 2}"#) == #"{"from":3,"revision":5,"unset":["c"]}"#)
        #expect(try data(old, #"{"c": 3, "b": 2, "a": 1}"#) == #"{"from":3,"revision":5}"#)
    }

    @Test("Beyond a hundred keys, or from a state that nobody knows, the device is told to read it all")
    func fetch() throws {
        let hundred = JSON.Object((0..<100).map { (key: "k\($0)", value: JSON.bool(true)) })
        var more = hundred
        more["one"] = "more"
        let fetch = #"{"from":3,"revision":5,"fetch":true}"#
        #expect(text(Patch.data(from: 3, JSON.Object(), to: 5, more)) == fetch)
        #expect(text(Patch.data(from: 3, nil, to: 5, hundred)) == fetch)
        #expect(text(Patch.data(from: 3, JSON.Object(), to: 5, hundred)).hasPrefix(#"{"from":3,"revision":5,"set":{"#))
    }

    @Test("A patch that would fill a stream is not sent either")
    func large() {
        let values: JSON.Object = ["a": .string(String(repeating: "x", count: Patch.mostBytes))]
        #expect(text(Patch.data(from: 0, JSON.Object(), to: 1, values)) == #"{"from":0,"revision":1,"fetch":true}"#)
    }

    private func data(_ old: JSON.Object, _ new: String) throws -> String {
        text(Patch.data(from: 3, old, to: 5, try object(new)))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

@Suite struct MarkTests {
    @Test("A mark survives being a position", arguments: [0, 1, 300, 9_007_199_254_740_991] as [Int64])
    func roundTrip(revision: Int64) {
        let mark = Mark(revision: revision, publishedAt: Instant(microseconds: 1_790_000_000_123_456))
        #expect(Mark(mark.position) == mark)
    }

    @Test("Bytes that are no position are refused", arguments: [[], [7], [7, 0, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func refused(position: [UInt8]) {
        #expect(Mark(position) == nil)
    }

    @Test("Two revisions with one number have two tags")
    func tags() {
        let one = Mark(revision: 1, publishedAt: Instant(microseconds: 1))
        let other = Mark(revision: 1, publishedAt: Instant(microseconds: 2))
        #expect(one.etag != other.etag)
    }
}

func object(_ text: String) throws -> JSON.Object {
    try #require(try JSON.parse(Array(text.utf8)).fields)
}
