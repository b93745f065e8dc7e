import Glibc
import Wire

/// Thousands of event streams, read by one thread.
///
/// Opens them, a few at a time, prints a line, then obeys standard input: `look` prints what came since the last mark,
/// `mark` does so and begins anew, its end ends the run. Each event that carries a sender's slot is looked at: how long ago it was sent, and whether this
/// stream has had it before.
struct StreamRun {
    private struct Stream {
        var socket: Int32 = -1
        /// Its answer was the expected one.
        var isAccepted = false
        var isOpen = false
        /// The end of what came last, when a word may go on in what comes next.
        var carried: [UInt8] = []
        /// A bit for each number that came since the mark.
        var seen: [UInt64] = []
    }

    private static let opening = 64
    private static let uuidLength = 36

    private let port: UInt16
    private let requests: Requests
    /// What stands in front of the slot, and what says that a stream stands.
    private let key: [UInt8]
    private let ready: [UInt8]
    private var streams: [Stream] = []
    private var poller = Poller()
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var openCount = 0
    private var ended = 0
    private var bytes = 0
    private var duplicates = 0
    private var latency = Histogram()

    init(_ options: Options) throws(BenchFault) {
        port = try options.port()
        requests = try Requests(file: try options.text("requests"))
        key = Array(try options.text("key").utf8)
        ready = Array(try options.text("ready").utf8)
    }

    mutating func run() throws(BenchFault) {
        let stdin = requests.count
        streams = [Stream](repeating: Stream(), count: requests.count)
        var started = 0
        while openCount + ended < requests.count {
            while started < requests.count, started - openCount - ended < Self.opening {
                try open(started)
                started += 1
            }
            let ready = poller.wait(until: Ticks.now() + 20 * Ticks.perSecond)
            guard !ready.isEmpty else { throw BenchFault("only \(openCount) of \(requests.count) streams opened") }
            for (number, _) in ready { try pull(number) }
        }
        guard ended == 0 else { throw BenchFault("\(ended) streams ended while they were opened") }
        report()
        forget()
        poller.add(STDIN_FILENO, tag: stdin)
        while true {
            for (number, _) in poller.wait(until: .max) {
                if number < stdin { try pull(number) } else if !obey() { return }
            }
        }
    }

    private mutating func open(_ number: Int) throws(BenchFault) {
        var request: [UInt8] = []
        requests.write(number, due: 0, into: &request)
        streams[number].socket = try Socket.connect(port: port)
        guard Socket.send(request, from: 0, to: streams[number].socket) == request.count else {
            throw BenchFault("a request for a stream could not be sent at once")
        }
        poller.add(streams[number].socket, tag: number)
    }

    private mutating func pull(_ number: Int) throws(BenchFault) {
        switch Socket.receive(streams[number].socket, into: &buffer) {
        case .nothing: return
        case .closed:
            close(streams[number].socket)
            ended += 1
            if streams[number].isOpen { openCount -= 1 }
        case .bytes(let count):
            bytes += count
            try take(count, number)
        }
    }

    private mutating func take(_ count: Int, _ number: Int) throws(BenchFault) {
        var carried = streams[number].carried
        guard carried.isEmpty else {
            carried.append(contentsOf: buffer[..<count])
            streams[number].carried = []
            let all = carried
            return try all.withUnsafeBytes { bytes in
                Result { () throws(BenchFault) in try look(at: bytes, number) }
            }.get()
        }
        // The buffer is given away meanwhile: looking changes this value too.
        var lent: [UInt8] = []
        swap(&lent, &buffer)
        defer { swap(&lent, &buffer) }
        try lent.withUnsafeBytes { bytes in
            Result { () throws(BenchFault) in try look(at: UnsafeRawBufferPointer(rebasing: bytes[..<count]), number) }
        }.get()
    }

    private mutating func look(at bytes: UnsafeRawBufferPointer, _ number: Int) throws(BenchFault) {
        if !streams[number].isOpen { try greet(bytes, number) }
        let now = Ticks.now()
        var at = 0
        while let hit = bytes.position(of: key, from: at) {
            let start = hit + key.count
            guard start + Self.uuidLength <= bytes.count else { break }
            note(bytes[start..<start + Self.uuidLength], number, now)
            at = start + Self.uuidLength
        }
        // What was counted is not carried, so that it is not counted again.
        let tail = max(at, bytes.count - max(key.count + Self.uuidLength, ready.count))
        streams[number].carried.append(contentsOf: bytes[tail...])
    }

    private mutating func greet(_ bytes: UnsafeRawBufferPointer, _ number: Int) throws(BenchFault) {
        let good = Array("HTTP/1.1 200".utf8)
        // Before it is ready much may come that had waited, in any number of pieces: only the first begins with the head.
        if !streams[number].isAccepted {
            guard bytes.position(of: good, from: 0) == 0 else {
                throw BenchFault("a stream was refused: \(String(decoding: bytes.prefix(400), as: UTF8.self))")
            }
            streams[number].isAccepted = true
        }
        guard bytes.position(of: ready, from: 0) != nil else { return }
        streams[number].isOpen = true
        openCount += 1
    }

    private mutating func note(_ text: Slice<UnsafeRawBufferPointer>, _ number: Int, _ now: Int64) {
        guard let id = UUID(String(decoding: text, as: UTF8.self)) else { return }
        let index = Int(id.low & 0xFFFF_FFFF)
        let (word, bit) = (index >> 6, UInt64(1) << UInt64(index & 63))
        while streams[number].seen.count <= word { streams[number].seen.append(0) }
        guard streams[number].seen[word] & bit == 0 else { return duplicates += 1 }
        streams[number].seen[word] |= bit
        latency.add(now - Int64(id.high))
    }

    /// False when the run is to end.
    private mutating func obey() -> Bool {
        var command = [UInt8](repeating: 0, count: 64)
        let count = command.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        report()
        if String(decoding: command[..<count], as: UTF8.self) == "mark\n" { forget() }
        return true
    }

    private func report() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("open", openCount)
        writer.field("ended", ended)
        writer.field("bytes", bytes)
        writer.field("delivered", Int(latency.count))
        writer.field("duplicates", duplicates)
        writer.field("latency", latency)
        writer.endObject()
        Output.write(writer.finish() + [0x0A], to: STDOUT_FILENO)
    }

    private mutating func forget() {
        (bytes, duplicates, latency) = (0, 0, Histogram())
        for number in streams.indices { streams[number].seen = [] }
    }
}
