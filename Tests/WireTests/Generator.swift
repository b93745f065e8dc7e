@testable import Wire

/// A repeatable source of test values: the same seed gives the same values on every machine.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Text of up to so many characters, rich in those that codings escape; never U+0000.
    mutating func text(upTo limit: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<number(below: limit + 1) { text.append(scalar()) }
        return String(text)
    }

    mutating func json(depth: Int) -> JSON {
        switch number(below: depth > 0 ? 7 : 5) {
        case 0: return .null
        case 1: return .bool(next() & 1 == 0)
        case 2: return .number(JSON.Number(Int64(truncatingIfNeeded: next()) >> Int64(number(below: 64))))
        case 3: return JSON.Number(Double(bitPattern: next() & ~(1 << 62))).map(JSON.number) ?? .null
        case 4: return .string(text(upTo: 12))
        case 5: return .array((0..<number(below: 6)).map { _ in json(depth: depth - 1) })
        default:
            var object = JSON.Object()
            for _ in 0..<number(below: 14) { object[text(upTo: 4)] = json(depth: depth - 1) }
            return .object(object)
        }
    }

    private mutating func scalar() -> Unicode.Scalar {
        let special: [Unicode.Scalar] = [
            "\"", "\\", "/", "%", "+", "&", "=", "<", ">", "'", " ", "\r", "\n", "\t", "\u{1}", "\u{7F}",
        ]
        switch number(below: 4) {
        case 0: return special[number(below: special.count)]
        case 1: return Unicode.Scalar(UInt32(1 + number(below: 0xD7FF))) ?? "?"
        case 2: return Unicode.Scalar(UInt32(0xE000 + number(below: 0x110000 - 0xE000))) ?? "?"
        default: return Unicode.Scalar(UInt8(32 + number(below: 95)))
        }
    }
}
