/// One event of a `text/event-stream` (WHATWG HTML §9.2), to be written in one piece.
public struct ServerSentEvent: Sendable {
    /// The type; nil or empty for what browsers call `message`.
    public var event: String?
    /// What a client repeats as `Last-Event-ID`; empty makes it forget what it had, nil leaves that alone.
    public var id: String?
    /// Milliseconds a client waits before it connects again.
    public var retry: Int?
    /// UTF-8 text; readers see CR and CRLF as LF.
    public var data: [UInt8]

    public init(event: String? = nil, id: String? = nil, retry: Int? = nil, data: [UInt8] = []) {
        self.event = event
        self.id = id
        self.retry = retry
        self.data = data
    }

    /// The lines and the blank line that ends them.
    ///
    /// CR, LF and NUL are left out of type and id: they would end the line, or make readers drop the id. Without type
    /// and data no data line is written: such an event sets id and retry time, and readers dispatch nothing.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(usualCount)
        write(to: &output)
        return output
    }

    /// About as many bytes as are written, seldom fewer.
    public var usualCount: Int { data.count + (id?.utf8.count ?? 0) + (event?.utf8.count ?? 0) + 64 }

    /// Appends what `encoded()` returns.
    public func write(to output: inout [UInt8]) {
        if let event = event.map(Self.oneLine), !event.isEmpty { Self.write("event: ", event.utf8, to: &output) }
        if let id = id.map(Self.oneLine) { Self.write("id: ", id.utf8, to: &output) }
        if let retry, retry >= 0 { Self.write("retry: ", String(retry).utf8, to: &output) }
        if !data.isEmpty || event != nil { writeData(to: &output) }
        output.append(Ascii.lineFeed)
    }

    private func writeData(to output: inout [UInt8]) {
        // Most data is JSON of one line.
        guard data.span.breaksLine else { return Self.write("data: ", data, to: &output) }
        var start = 0
        var index = 0
        while index < data.count {
            let byte = data[index]
            guard byte == Ascii.lineFeed || byte == Ascii.carriageReturn else {
                index += 1
                continue
            }
            Self.write("data: ", data[start..<index], to: &output)
            let isPair = byte == Ascii.carriageReturn && index + 1 < data.count && data[index + 1] == Ascii.lineFeed
            index += isPair ? 2 : 1
            start = index
        }
        Self.write("data: ", data[start...], to: &output)
    }

    // The space is written always, since a reader takes one away: text that starts with a space keeps it.
    private static func write(_ start: StaticString, _ value: some Collection<UInt8>, to output: inout [UInt8]) {
        start.withUTF8Buffer { output.append(contentsOf: $0) }
        output.append(contentsOf: value)
        output.append(Ascii.lineFeed)
    }

    private static func oneLine(_ text: String) -> String {
        let span = text.utf8.span
        guard span.breaksLine || span.holdsNull else { return text }
        let kept = text.utf8.filter { $0 != Ascii.lineFeed && $0 != Ascii.carriageReturn && $0 != 0 }
        return String(decoding: kept, as: UTF8.self)
    }
}

extension Span<UInt8> {
    fileprivate var breaksLine: Bool {
        for index in indices where self[index] == Ascii.lineFeed || self[index] == Ascii.carriageReturn { return true }
        return false
    }

    fileprivate var holdsNull: Bool {
        for index in indices where self[index] == 0 { return true }
        return false
    }
}
