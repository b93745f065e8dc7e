import Glibc

/// A decoder, and what must be true of it for any bytes at all.
struct FuzzTarget: Sendable {
    let name: String
    /// The longest input, in bytes: as long as reaches every branch.
    let longest: Int
    let look: @Sendable ([UInt8]) -> Void

    init(_ name: String, longest: Int, look: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.longest = longest
        self.look = look
    }

    static let all: [FuzzTarget] = texts + json + times + binary + streams + http + tokens + requests + operating
}

/// Who hears of a claim that does not hold, in tests.
enum Listening {
    @TaskLocal static var hear: (@Sendable (String) -> Void)?
}

/// Says that a claim does not hold; with nobody listening it ends the program, so that libFuzzer keeps the input.
func expect(_ claim: @autoclosure () -> Bool, _ words: StaticString, line: Int = #line) {
    guard !claim() else { return }
    if let hear = Listening.hear { return hear("line \(line), not true: \(words)") }
    let message = "line \(line), not true: \(words)\n"
    _ = message.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}

extension [UInt8] {
    /// The bytes as text, when they are UTF-8.
    var text: String? { String(validating: self, as: UTF8.self) }

    /// The bytes as text, with U+FFFD for what is not UTF-8.
    var anyText: String { String(decoding: self, as: UTF8.self) }

    /// Takes eight bytes off the front as a number, as many zeros standing in for those missing.
    mutating func takeNumber() -> UInt64 {
        let head = prefix(8)
        removeFirst(head.count)
        return head.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Takes a byte off the front; zero when there is none.
    mutating func takeByte() -> UInt8 { isEmpty ? 0 : removeFirst() }
}

/// Whether two texts are the same bytes; `==` is true of some that are not.
func same(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
