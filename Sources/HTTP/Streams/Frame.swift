public import Wire

/// One piece of an event stream, encoded once and shared by every stream it is sent to.
public final class Frame: Sendable {
    /// Everything, in one piece of memory; which part of it is sent depends on how the body is delimited.
    let bytes: [UInt8]
    /// The text as an HTTP chunk (RFC 9112 §7.1).
    private let chunk: Range<Int>
    /// The text alone.
    private let plain: Range<Int>

    /// In front of the text: what the largest size in hexadecimal digits needs, and CR LF.
    private static let room = 18

    /// Wraps text that is already in event-stream form.
    public convenience init(text: [UInt8]) {
        self.init(capacity: text.count) { $0 += text }
    }

    public convenience init(_ event: ServerSentEvent) {
        self.init(capacity: event.usualCount) { event.write(to: &$0) }
    }

    private init(capacity: Int, _ write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.room + capacity + 2)
        bytes.append(contentsOf: repeatElement(0, count: Self.room))
        write(&bytes)
        plain = Self.room..<bytes.count
        bytes.append(0x0D)
        bytes.append(0x0A)
        // An empty chunk would end the body.
        chunk = plain.isEmpty ? plain : Self.putSize(plain.count, in: &bytes)..<bytes.count
        self.bytes = bytes
    }

    /// Bytes that are sent as they are.
    init(raw bytes: [UInt8]) {
        self.bytes = bytes
        plain = 0..<bytes.count
        chunk = plain
    }

    /// The last chunk.
    static let end = Frame(raw: [0x30, 0x0D, 0x0A, 0x0D, 0x0A])

    /// Writes a chunk's size, with its end, right in front of the text; answers where it starts.
    private static func putSize(_ size: Int, in bytes: inout [UInt8]) -> Int {
        var start = room - 2
        bytes[start] = 0x0D
        bytes[start + 1] = 0x0A
        var rest = size
        repeat {
            start -= 1
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            bytes[start] = digit < 10 ? 0x30 + digit : 0x57 + digit
            rest >>= 4
        } while rest > 0
        return start
    }

    /// The text's size in bytes.
    public var count: Int { plain.count }

    func part(isChunked: Bool) -> Range<Int> { isChunked ? chunk : plain }
}
