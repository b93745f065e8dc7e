import Glibc
import Lanes

/// Writes lines to a descriptor whole and in the order of their coming; those that can wait are written together.
///
/// Each line by itself is a call of the system on the way of the request that it tells of, which costs as much as a tenth of
/// a small request.
final class LineWriter: Sendable {
    private struct Gathered {
        var lines: [UInt8] = []
        /// Whether a write has been arranged.
        var isAwaited = false
    }

    private let descriptor: Int32
    private let gathered = Lock(Gathered())
    /// Held while writing, so that what was taken first is written first; what is written, and its memory for the next time.
    private let turn = Lock([UInt8]())
    private let lane = Lane(name: "log")
    private static let pause: UInt32 = 20_000
    /// More than this waits for nobody: whoever brings more writes it, at the pace of whoever reads.
    private static let most = 1 << 20
    /// What the system writes to a pipe in one piece, apart from what others write (POSIX: at least 512; here 4,096).
    private static let piece = Int(PIPE_BUF)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes a line, with its end, within some milliseconds.
    func writeSoon(_ line: [UInt8]) {
        let (isFirst, isTooMuch) = gathered.withLock { gathered in
            gathered.lines += line
            defer { gathered.isAwaited = true }
            return (!gathered.isAwaited, gathered.lines.count > Self.most)
        }
        if isFirst {
            lane.post { [self] in
                usleep(Self.pause)
                gathered.withLock { $0.isAwaited = false }
                flush()
            }
        }
        if isTooMuch { flush() }
    }

    /// Writes a line, with its end, and all that came before it.
    func write(_ line: [UInt8]) {
        gathered.withLock { $0.lines += line }
        flush()
    }

    private func flush() {
        turn.withLock { lines in
            gathered.withLock { swap(&$0.lines, &lines) }
            defer { lines.removeAll(keepingCapacity: lines.count < Self.most / 4) }
            var rest = lines[...]
            while !rest.isEmpty {
                let count = Self.firstPiece(of: rest)
                guard writeAll(rest.prefix(count)) else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// As many whole lines as are written in one piece, at least one.
    private static func firstPiece(of lines: ArraySlice<UInt8>) -> Int {
        guard lines.count > piece else { return lines.count }
        let end = lines.prefix(piece).lastIndex(of: 0x0A) ?? lines.firstIndex(of: 0x0A) ?? lines.endIndex - 1
        return end + 1 - lines.startIndex
    }

    /// False when the log cannot be written: nobody is left to tell.
    private func writeAll(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
