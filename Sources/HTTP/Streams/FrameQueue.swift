import Glibc

/// Frames that wait for a socket to take them.
struct FrameQueue {
    var isChunked = true
    private var frames: [Frame] = []
    private var first = 0
    /// How much of the first frame was sent.
    private var offset = 0
    private(set) var bytes = 0

    var isEmpty: Bool { first == frames.count }

    mutating func append(_ frame: Frame) {
        let size = frame.part(isChunked: isChunked).count
        guard size > 0 else { return }
        frames.append(frame)
        bytes += size
    }

    /// One non-blocking write of the first frame; the result of `send`, with `errno` as it left it.
    mutating func send(to socket: Int32) -> Int {
        let frame = frames[first]
        let part = frame.part(isChunked: isChunked)
        let hasMore = first + 1 < frames.count
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL | (hasMore ? MSG_MORE : 0))
        let start = part.lowerBound + offset
        let sent = frame.bytes.withUnsafeBytes { buffer in
            Glibc.send(socket, buffer.baseAddress.map { $0 + start }, part.upperBound - start, flags)
        }
        guard sent > 0 else { return sent }
        bytes -= sent
        offset += sent
        if offset == part.count { dropFirst() }
        return sent
    }

    private mutating func dropFirst() {
        offset = 0
        first += 1
        guard first == frames.count else { return }
        frames = []
        first = 0
    }
}
