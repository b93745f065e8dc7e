@testable import Wire

extension FuzzTarget {
    static let json = [
        FuzzTarget("json", longest: 4096) { bytes in
            guard let value = try? JSON.parse(bytes) else { return }
            let written = value.encoded()
            expect(written.count <= bytes.count, "what is written is never longer than what was read")
            guard let again = try? JSON.parse(written) else { return expect(false, "what is written can be read") }
            expect(again == value, "what is written means what was read")
            expect(again.hashValue == value.hashValue, "equal values have equal hashes")
            expect(again.encoded() == written, "a value has one spelling")
            let canonical = value.canonical()
            expect((try? JSON.parse(canonical)) == value, "the canonical form means the same")
            expect(depth(of: value) <= 32, "nothing is nested deeper than allowed")
        },
        FuzzTarget("json-shallow", longest: 256) { bytes in
            var bytes = bytes
            let limit = Int(bytes.takeByte() % 5)
            guard let value = try? JSON.parse(bytes, maximumDepth: limit) else { return }
            expect(depth(of: value) <= limit, "nothing is nested deeper than asked for")
        },
        FuzzTarget("json-tree", longest: 512) { bytes in
            var rest = bytes
            let value = tree(from: &rest, depth: 6)
            expect((try? JSON.parse(value.encoded())) == value, "a tree that was written is read again")
            expect((try? JSON.parse(value.canonical())) == value, "also in its canonical form")
        },
        FuzzTarget("json-members", longest: 512) { bytes in
            // Each byte is a step: which key, and whether it is set or removed; the list beside it is the second opinion.
            var object = JSON.Object()
            var members: [(key: String, value: Int64)] = []
            for (step, byte) in bytes.enumerated() {
                let key = keys[Int(byte & 0x1F)]
                let place = members.firstIndex { same($0.key, key) }
                if byte & 0x80 == 0 {
                    object[key] = .number(JSON.Number(Int64(step)))
                    if let place { members[place].value = Int64(step) } else { members.append((key, Int64(step))) }
                } else {
                    object[key] = nil
                    if let place { members.remove(at: place) }
                }
            }
            expect(object.keys.elementsEqual(members.map(\.key), by: same), "keys stay in their order")
            for (key, value) in members { expect(object[key]?.integer == value, "each key has its value") }
        },
    ]

    /// Among them pairs that Swift calls equal although their bytes differ.
    private static let keys =
        (0..<26).map { "k\($0)" } + ["\u{E9}", "e\u{301}", "K", "\u{212A}", "", "\u{0}x"]

    private static func depth(of value: JSON) -> Int {
        switch value {
        case .array(let items): 1 + (items.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.map { depth(of: $0.value) }.max() ?? 0)
        case .null, .bool, .number, .string: 0
        }
    }

    private static func tree(from bytes: inout [UInt8], depth: Int) -> JSON {
        let byte = bytes.takeByte()
        switch byte % (depth > 0 ? 7 : 5) {
        case 0: return .null
        case 1: return .bool(byte & 0x10 != 0)
        case 2: return .number(JSON.Number(Int64(bitPattern: bytes.takeNumber()) >> Int64(byte >> 2)))
        case 3: return JSON.Number(Double(bitPattern: bytes.takeNumber())).map(JSON.number) ?? .null
        case 4: return .string(text(from: &bytes))
        case 5: return .array((0..<Int(byte >> 4)).map { _ in tree(from: &bytes, depth: depth - 1) })
        default:
            var object = JSON.Object()
            for _ in 0..<Int(byte >> 4) { object[text(from: &bytes)] = tree(from: &bytes, depth: depth - 1) }
            return .object(object)
        }
    }

    private static func text(from bytes: inout [UInt8]) -> String {
        let head = bytes.prefix(Int(bytes.takeByte() & 0x0F))
        bytes.removeFirst(min(head.count, bytes.count))
        return String(decoding: head.filter { $0 != 0 }, as: UTF8.self)
    }
}
