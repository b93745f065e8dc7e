/// Reads a `text/event-stream` (WHATWG HTML §9.2.6) in pieces of any size.
///
/// One parser reads one connection. At its end there is nothing to call: an event without its blank line is dropped.
public struct ServerSentEventParser: Sendable {
    public struct Event: Hashable, Sendable {
        /// The type; `message` when the stream names none.
        public let event: String
        public let data: [UInt8]
        /// The id in force when the event was dispatched, of this or an earlier event.
        public let lastEventID: String

        /// The data as text; what is not UTF-8 becomes U+FFFD.
        public var text: String { String(decoding: data, as: UTF8.self) }
    }

    /// An event or a line grew beyond the limit; the stream cannot be read further.
    public struct Overflow: Error, Hashable, Sendable {}

    /// What to send as `Last-Event-ID` when connecting again; nothing is sent when empty.
    public private(set) var lastEventID: String
    /// Milliseconds to wait before connecting again, once the stream has said so.
    public private(set) var retry: Int?

    private let limit: Int
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var skipsLineFeed = false
    private var eventType = ""
    private var data: [UInt8] = []
    private var idBuffer: String

    /// Starts a connection, with the id that the one before it ended with.
    ///
    /// The limit, in bytes, bounds each line and the data of each event.
    public init(lastEventID: String = "", limit: Int = 16 << 20) {
        self.lastEventID = lastEventID
        self.limit = limit
        idBuffer = lastEventID
    }

    /// The events that these bytes complete, in order.
    public mutating func feed(_ bytes: [UInt8]) throws(Overflow) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            // A CR ends its line at once: the LF that may follow can be long in coming.
            let isSecondHalf = skipsLineFeed && byte == Ascii.lineFeed
            skipsLineFeed = byte == Ascii.carriageReturn
            if isSecondHalf { continue }
            guard byte == Ascii.lineFeed || byte == Ascii.carriageReturn else {
                guard line.count < limit else { throw Overflow() }
                line.append(byte)
                continue
            }
            if let event = try endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() throws(Overflow) -> Event? {
        defer {
            line.removeAll(keepingCapacity: true)
            isFirstLine = false
        }
        let content = isFirstLine && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line[...]
        guard !content.isEmpty else { return dispatch() }
        guard let colon = content.firstIndex(of: Ascii.colon) else {
            try field(content, [])
            return nil
        }
        let value = content[(colon + 1)...]
        try field(content[..<colon], value.first == Ascii.space ? value.dropFirst() : value)
        return nil
    }

    /// Takes one field; a comment has an empty name, and is ignored as all unknown names are.
    private mutating func field(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws(Overflow) {
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            guard data.count + value.count < limit else { throw Overflow() }
            data += value
            data.append(Ascii.lineFeed)
        case "event":
            eventType = String(decoding: value, as: UTF8.self)
        case "id":
            if !value.contains(0) { idBuffer = String(decoding: value, as: UTF8.self) }
        case "retry":
            guard !value.isEmpty, value.allSatisfy(\.isDigit) else { return }
            retry = Int(String(decoding: value, as: UTF8.self)) ?? retry
        default:
            return
        }
    }

    private mutating func dispatch() -> Event? {
        defer {
            data = []
            eventType = ""
        }
        lastEventID = idBuffer
        guard !data.isEmpty else { return nil }
        return Event(
            event: eventType.isEmpty ? "message" : eventType,
            data: Array(data.dropLast()),
            lastEventID: lastEventID
        )
    }
}
