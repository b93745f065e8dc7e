@testable import Wire

extension FuzzTarget {
    static let streams = [
        FuzzTarget("sse-parser", longest: 1024) { bytes in
            var whole = ServerSentEventParser(limit: 512)
            var pieces = ServerSentEventParser(limit: 512)
            let atOnce = try? whole.feed(bytes)
            var oneByOne: [ServerSentEventParser.Event]? = []
            for byte in bytes {
                guard let events = try? pieces.feed([byte]) else {
                    oneByOne = nil
                    break
                }
                oneByOne?.append(contentsOf: events)
            }
            expect(atOnce == oneByOne, "pieces make no difference")
            for event in atOnce ?? [] {
                expect(event.data.count < 512, "no event is larger than allowed")
                expect(!event.lastEventID.utf8.contains(0), "no id holds NUL")
            }
            if atOnce != nil { expect(same(whole.lastEventID, pieces.lastEventID), "nor to the id") }
        },
        FuzzTarget("sse-event", longest: 512) { bytes in
            let parts = bytes.split(separator: 0xFF, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
            let type = parts[0].anyText
            let id = parts.count > 1 ? parts[1].anyText : ""
            let data = Array((parts.last ?? []).anyText.utf8)
            let event = ServerSentEvent(event: type, id: id, data: data)
            var parser = ServerSentEventParser()
            guard let read = try? parser.feed(event.encoded()) else { return expect(false, "an event can be read") }
            guard !data.isEmpty else { return expect(read.count <= 1, "no event becomes two") }
            expect(read.count == 1, "an event is one event")
            expect(same(read[0].lastEventID, kept(id)), "its id comes back")
            expect(same(read[0].event, kept(type).isEmpty ? "message" : kept(type)), "its type comes back")
            expect(read[0].data == lines(data), "its data comes back, with LF for every end of a line")
        },
    ]

    private static func kept(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, as: UTF8.self)
    }

    private static func lines(_ data: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var last: UInt8 = 0
        for byte in data {
            if byte == 0x0D { output.append(0x0A) } else if byte != 0x0A || last != 0x0D { output.append(byte) }
            last = byte
        }
        return output
    }
}
