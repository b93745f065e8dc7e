import Glibc
import Wire

/// The requests of a run, read from a file: for each its length in decimal, a line feed, its bytes.
///
/// Where one holds the slot (a UUID of only `f`), every sending puts a UUID of its own there: the upper half is the time
/// the request was due, in nanoseconds; the lower half counts. Whoever sees it come out again knows how long it took, and
/// whether it had come before.
struct Requests {
    static let slot = Array("ffffffff-ffff-ffff-ffff-ffffffffffff".utf8)

    private let all: [(bytes: [UInt8], slot: Int?)]

    var count: Int { all.count }

    init(file path: String) throws(BenchFault) {
        let bytes = try File.read(path)
        var found: [(bytes: [UInt8], slot: Int?)] = []
        var at = 0
        while at < bytes.count {
            guard let end = bytes[at...].firstIndex(of: UInt8(ascii: "\n")),
                let length = Int(String(decoding: bytes[at..<end], as: UTF8.self)), end + 1 + length <= bytes.count
            else { throw BenchFault("\(path): no request at byte \(at)") }
            let request = Array(bytes[end + 1..<end + 1 + length])
            found.append((request, request.position(of: Self.slot)))
            at = end + 1 + length
        }
        guard !found.isEmpty else { throw BenchFault("\(path) has no request") }
        all = found
    }

    /// Writes request `number`, counted round all of them, over `buffer`.
    func write(_ number: Int, due: Int64, into buffer: inout [UInt8]) {
        let (bytes, slot) = all[number % all.count]
        buffer.removeAll(keepingCapacity: true)
        buffer.append(contentsOf: bytes)
        guard let slot else { return }
        let text = UUID(high: UInt64(due), low: UInt64(number)).description.utf8
        buffer.replaceSubrange(slot..<slot + Self.slot.count, with: text)
    }
}

extension [UInt8] {
    func position(of word: [UInt8]) -> Int? {
        withUnsafeBytes { $0.position(of: word, from: 0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Where the word begins at or after `start`.
    func position(of word: [UInt8], from start: Int) -> Int? {
        guard let first = word.first, let base = baseAddress else { return nil }
        var at = start
        while at + word.count <= count {
            // The C library's search goes many bytes at a time.
            guard let hit = memchr(base + at, Int32(first), count - word.count + 1 - at) else { return nil }
            at = UnsafeRawPointer(hit) - base
            if memcmp(base + at, word, word.count) == 0 { return at }
            at += 1
        }
        return nil
    }
}

enum File {
    static func read(_ path: String) throws(BenchFault) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchFault(call: "open \(path)") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw BenchFault(call: "read \(path)") }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
