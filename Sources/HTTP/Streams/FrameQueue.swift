import Glibc

/// Frames that wait for a socket to take them.
struct FrameQueue {
    var isChunked = true
    /// The frame that is being sent: most streams never have another, and need no memory for more.
    private var current: Frame?
    /// How much of it was sent.
    private var offset = 0
    private var others: [Frame] = []
    private var next = 0
    private(set) var bytes = 0

    var isEmpty: Bool { current == nil }

    mutating func append(_ frame: Frame) {
        let size = frame.part(isChunked: isChunked).count
        guard size > 0 else { return }
        bytes += size
        if current == nil {
            current = frame
        } else {
            others.append(frame)
        }
    }

    /// One non-blocking write of the first frame; the result of `send`, with `errno` as it left it.
    mutating func send(to socket: Int32) -> Int {
        guard let current else { return 0 }
        let part = current.part(isChunked: isChunked)
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL | (next < others.count ? MSG_MORE : 0))
        let start = part.lowerBound + offset
        let sent = current.bytes.withUnsafeBytes { buffer in
            Glibc.send(socket, buffer.baseAddress.map { $0 + start }, part.upperBound - start, flags)
        }
        guard sent > 0 else { return sent }
        bytes -= sent
        offset += sent
        if offset == part.count { goOn() }
        return sent
    }

    private mutating func goOn() {
        offset = 0
        guard next < others.count else {
            current = nil
            return
        }
        current = others[next]
        next += 1
        guard next == others.count else { return }
        others = []
        next = 0
    }
}
