public import Wire

/// One piece of an event stream, encoded once and shared by every stream it is sent to.
public final class Frame: Sendable {
    /// The text as an HTTP chunk; the text alone lies in `plain`.
    let bytes: [UInt8]
    let plain: Range<Int>

    /// Wraps text that is already in event-stream form.
    public init(text: [UInt8]) {
        let size = String(text.count, radix: 16).utf8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + size.count + 4)
        bytes.append(contentsOf: size)
        bytes.append(contentsOf: [0x0D, 0x0A])
        let start = bytes.count
        bytes.append(contentsOf: text)
        plain = start..<bytes.count
        bytes.append(contentsOf: [0x0D, 0x0A])
        // An empty chunk would end the body.
        self.bytes = text.isEmpty ? [] : bytes
    }

    /// The last chunk (RFC 9112 §7.1).
    static let end = Frame(raw: [0x30, 0x0D, 0x0A, 0x0D, 0x0A])

    /// Bytes that are sent as they are.
    init(raw bytes: [UInt8]) {
        self.bytes = bytes
        plain = 0..<bytes.count
    }

    public convenience init(_ event: ServerSentEvent) {
        self.init(text: event.encoded())
    }

    /// The text's size in bytes.
    public var count: Int { plain.count }

    func part(isChunked: Bool) -> Range<Int> {
        isChunked || bytes.isEmpty ? 0..<bytes.count : plain
    }
}
