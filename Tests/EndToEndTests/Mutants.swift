import Wire

/// A body with one thing wrong, and the field that the answer must name.
struct Mutant: Sendable {
    let pointer: String
    let what: String
    let body: [UInt8]
}

/// Everything generic that can be wrong with a JSON body.
///
/// Members of these objects are the client's own words, so that nothing about them is refused by name.
struct Mutants {
    private static let opaque: Set<String> = ["/values"]
    private static let longText = String(repeating: "x", count: 5_001)

    private(set) var all: [Mutant] = []
    private let body: JSON

    /// `required` has pointers of the fields that may not be left out, without the indexes of lists.
    init(of body: JSON, required: Set<String>) {
        self.body = body
        visit(body, at: "", name: "", required) { $0 }
        addRaw()
    }

    private mutating func visit(
        _ value: JSON, at pointer: String, name: String, _ required: Set<String>, _ rebuild: (JSON) -> JSON
    ) {
        for (what, wrong) in Self.wrong(value) { add(pointer, what, rebuild(wrong)) }
        switch value {
        case .object(let object) where !Self.opaque.contains(pointer):
            var more = object
            more["a/b~c"] = true
            add(pointer + "/a~1b~0c", "an unknown field", rebuild(.object(more)))
            for (key, member) in object {
                if required.contains("\(name)/\(key)") {
                    var fewer = object
                    fewer[key] = nil
                    add("\(pointer)/\(key)", "left out", rebuild(.object(fewer)))
                }
                visit(member, at: "\(pointer)/\(key)", name: "\(name)/\(key)", required) { changed in
                    var copy = object
                    copy[key] = changed
                    return rebuild(.object(copy))
                }
            }
        case .array(let items):
            for (index, item) in items.enumerated() {
                visit(item, at: "\(pointer)/\(index)", name: name, required) { changed in
                    var copy = items
                    copy[index] = changed
                    return rebuild(.array(copy))
                }
            }
        default: break
        }
    }

    /// Other types, and values that no field of this type takes.
    private static func wrong(_ value: JSON) -> [(String, JSON)] {
        switch value {
        case .string:
            [
                ("a number", 7), ("a flag", true), ("null", .null), ("a list", ["x"]), ("an object", ["x": "y"]),
                ("a control character", "bell\u{7}"), ("a line feed", "two\nlines"), ("DEL", "\u{7F}"),
                ("over-long", .string(longText)),
            ]
        case .number:
            [
                ("text", "1"), ("a flag", true), ("null", .null), ("a list", [1]), ("an object", ["x": 1]),
                ("negative", -1), ("2^53", 9_007_199_254_740_992), ("the most of 64 bits", .number(JSON.Number(.max))),
                ("a fraction", number(1.5)), ("huge", number(1e300)),
            ]
        case .bool:
            [("text", "true"), ("a number", 1), ("null", .null), ("a list", [true]), ("an object", ["x": true])]
        case .array:
            [
                ("text", "x"), ("a number", 1), ("null", .null), ("an object", ["0": "x"]), ("numbers inside", [1, 2]),
                ("null inside", [.null]), ("a list inside", [["x"]]),
                ("too many", .array(Array(repeating: "x", count: 1_000))),
            ]
        case .object: [("text", "x"), ("a number", 1), ("null", .null), ("a list", []), ("a flag", false)]
        case .null: []
        }
    }

    private static func number(_ value: Double) -> JSON { JSON.Number(value).map(JSON.number) ?? .null }

    private mutating func add(_ pointer: String, _ what: String, _ body: JSON) {
        all.append(Mutant(pointer: pointer, what: what, body: body.encoded()))
    }

    /// What is wrong with the bytes themselves; the answer speaks of the body as a whole.
    private mutating func addRaw() {
        let good = body.encoded()
        guard let first = body.fields?.first, case .object(let object) = body else { return }
        let key = JSON.string(first.key).description
        let rest = good.dropFirst()
        var nested = object
        nested["deep"] = (0..<40).reduce(into: JSON.bool(true)) { value, _ in value = [value] }
        let bodies: [(String, [UInt8])] = [
            ("nothing", []), ("white space", Array(" \r\n\t".utf8)), ("a list", Array("[]".utf8)),
            ("null", Array("null".utf8)), ("a text", Array("\"{}\"".utf8)), ("a number", Array("1".utf8)),
            ("an open brace", Array("{".utf8)), ("cut off", Array(good.dropLast())),
            ("more behind it", good + Array("{}".utf8)), ("a comma too many", good.dropLast() + Array(",}".utf8)),
            ("a byte order mark", [0xEF, 0xBB, 0xBF] + good), ("single quotes", Array("{'a':1}".utf8)),
            ("a comment", Array("{/**/".utf8) + rest), ("a raw NUL behind", good + [0]),
            ("a raw NUL in a text", Array("{\"x\":\"".utf8) + [0] + Array("\",".utf8) + rest),
            ("an escaped NUL in a text", Array("{\"x\":\"\\u0000\",".utf8) + rest),
            ("an escaped NUL in a key", Array("{\"x\\u0000\":1,".utf8) + rest),
            ("half a surrogate pair", Array("{\"x\":\"\\ud800\",".utf8) + rest),
            ("invalid UTF-8", Array("{\"x\":\"".utf8) + [0xC3, 0x28] + Array("\",".utf8) + rest),
            ("overlong UTF-8", Array("{\"x\":\"".utf8) + [0xC0, 0x80] + Array("\",".utf8) + rest),
            ("a key twice", Array("{\(key):\(first.value),".utf8) + rest), ("NaN", Array("{\"x\":NaN,".utf8) + rest),
            ("an exponent without end", Array("{\"x\":1e99999,".utf8) + rest),
            ("a number without end", Array("{\"x\":\(String(repeating: "9", count: 500)),".utf8) + rest),
            ("nested too deeply", JSON.object(nested).encoded()),
            ("brackets without end", [UInt8](repeating: UInt8(ascii: "["), count: 50_000)),
            ("braces without end", Array(String(repeating: "{\"a\":", count: 10_000).utf8)),
            ("UTF-16", good.flatMap { [$0, 0] }),
        ]
        for (what, bytes) in bodies { all.append(Mutant(pointer: "", what: what, body: bytes)) }
    }
}
