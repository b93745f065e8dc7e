import Glibc

/// Finds where a response ends.
struct ResponseReader {
    struct Response {
        let status: Int
        let mustClose: Bool
    }

    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let lastChunk = Array("\r\n0\r\n\r\n".utf8)
    private static let length = Array("content-length:".utf8)
    private static let coding = Array("transfer-encoding:".utf8)
    private static let connection = Array("connection:".utf8)

    private var waiting: [UInt8] = []

    var isInside: Bool { !waiting.isEmpty }

    mutating func forget() { waiting.removeAll(keepingCapacity: true) }

    /// Takes the next bytes; a response when they complete it.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(BenchFault) -> Response? {
        if waiting.isEmpty, let response = try Self.read(bytes) { return response }
        waiting.append(contentsOf: bytes)
        let result = waiting.withUnsafeBytes { bytes in Result { () throws(BenchFault) in try Self.read(bytes) } }
        guard let response = try result.get() else { return nil }
        forget()
        return response
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(BenchFault) -> Response? {
        guard let end = bytes.position(of: headEnd, from: 0) else { return nil }
        guard end > 12, bytes[9] >= 0x30 else { throw BenchFault("an answer does not begin with a status line") }
        let status = bytes[9..<12].reduce(0) { $0 * 10 + Int($1) - 0x30 }
        let head = headers(UnsafeRawBufferPointer(rebasing: bytes[..<(end + 2)]))
        let bodyStart = end + headEnd.count
        if status == 304 || status == 204 { return Response(status: status, mustClose: head.mustClose) }
        if head.isChunked {
            let tail = UnsafeRawBufferPointer(rebasing: bytes[(end + 2)...])
            guard tail.count >= lastChunk.count, tail.position(of: lastChunk, from: tail.count - lastChunk.count) != nil
            else { return nil }
            return Response(status: status, mustClose: head.mustClose)
        }
        let missing = bodyStart + head.length - bytes.count
        guard missing <= 0 else { return nil }
        guard missing == 0 else { throw BenchFault("\(-missing) bytes follow an answer that nobody asked for") }
        return Response(status: status, mustClose: head.mustClose)
    }

    private struct Head {
        var length = 0
        var isChunked = false
        var mustClose = false
    }

    private static func headers(_ bytes: UnsafeRawBufferPointer) -> Head {
        var head = Head()
        var at = 0
        while let base = bytes.baseAddress, at < bytes.count,
            let feed = memchr(base + at, 0x0A, bytes.count - at)
        {
            let line = UnsafeRawBufferPointer(rebasing: bytes[at..<(UnsafeRawPointer(feed) - base)])
            if line.begins(with: length) {
                head.length = line.dropFirst(length.count).reduce(0) {
                    (0x30...0x39).contains($1) ? $0 * 10 + Int($1) - 0x30 : $0
                }
            } else if line.begins(with: coding) {
                head.isChunked = true
            } else if line.begins(with: connection) {
                head.mustClose =
                    line.contains(UInt8(ascii: "c")) && line.position(of: Array("lose".utf8), from: 0) != nil
            }
            at = UnsafeRawPointer(feed) - base + 1
        }
        return head
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it begins with a lower-case word, in any case.
    fileprivate func begins(with word: [UInt8]) -> Bool {
        guard count >= word.count, let first = word.first, self[0] | 0x20 == first else { return false }
        for index in 1..<word.count where (self[index] | 0x20) != (word[index] | 0x20) { return false }
        return true
    }
}
