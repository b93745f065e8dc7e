import Glibc
import Wire

/// Requests over connections that are kept open, one at a time on each.
///
/// Closed loop: a connection asks again as soon as it was answered. Open loop (`--rate`): requests are due at even
/// intervals whatever the answers do, wait for a free connection if they must, and their time counts from when they were
/// due. One that was not sent within the deadline is given up, and counted.
struct LoadRun {
    private struct Connection {
        var socket: Int32
        var due: Int64 = 0
        var isBusy = false
        var outgoing: [UInt8] = []
        var sent = 0
        var reader = ResponseReader()
    }

    private let port: UInt16
    private let requests: Requests
    private let deadline: Int64
    private let interval: Double
    private let warmUp: Int64
    private let length: Int64
    private var tally: Tally
    private var connections: [Connection] = []
    private var idle: [Int] = []
    private var poller = Poller()
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private let first: Int
    private var next: Int
    private var beganAt: Int64 = 0

    init(_ options: Options) throws(BenchFault) {
        port = try options.port()
        requests = try Requests(file: try options.text("requests"))
        let rate: Double = try options.number("rate", or: 0)
        interval = rate > 0 ? Double(Ticks.perSecond) / rate : 0
        deadline = try options.number("deadline-ms", or: Int64(1_000)) * 1_000_000
        let second = Double(Ticks.perSecond)
        warmUp = Int64(try options.number("warm-up", or: 1.0) * second)
        length = Int64(try options.number("seconds", or: 5.0) * second)
        first = try options.number("first", or: 0)
        next = first
        tally = Tally(expected: options.text("expect", or: "200").split(separator: ",").compactMap { Int($0) })
        for number in 0..<(try options.number("connections", or: 64)) {
            connections.append(Connection(socket: try Socket.connect(port: port)))
            poller.add(connections[number].socket, tag: number)
        }
    }

    mutating func run() throws(BenchFault) {
        beganAt = Ticks.now()
        let end = beganAt + warmUp + length
        tally.window = beganAt + warmUp..<end
        idle = Array(connections.indices.reversed())
        let patience = end + 10 * Ticks.perSecond
        while true {
            let now = Ticks.now()
            if now >= patience || (!hasMore(now, end) && idle.count == connections.count) { break }
            if hasMore(now, end) { try dispatch(now, end) }
            for (number, isWritable) in poller.wait(until: wakeAt(now, end, patience)) {
                if isWritable { try push(number) }
                try pull(number)
            }
        }
        tally.unanswered = connections.count - idle.count
        Output.write(tally.report(seconds: Double(length) / Double(Ticks.perSecond)), to: STDOUT_FILENO)
    }

    /// Whether there is still something to ask; in an open loop also what was due before the end and has not been sent.
    private func hasMore(_ now: Int64, _ end: Int64) -> Bool { interval > 0 ? nextDue < end : now < end }

    private var nextDue: Int64 { beganAt + Int64(Double(next - first) * interval) }

    private func wakeAt(_ now: Int64, _ end: Int64, _ patience: Int64) -> Int64 {
        guard hasMore(now, end) else { return patience }
        guard interval > 0 else { return end }
        return idle.isEmpty ? patience : nextDue
    }

    private mutating func dispatch(_ now: Int64, _ end: Int64) throws(BenchFault) {
        while interval > 0, nextDue < end, nextDue + deadline < now {
            tally.noteGivenUp(due: nextDue)
            next += 1
        }
        while let number = idle.last, hasMore(now, end) {
            let due = interval > 0 ? nextDue : now
            guard due <= now else { return }
            idle.removeLast()
            try start(number, due: due)
        }
    }

    private mutating func start(_ number: Int, due: Int64) throws(BenchFault) {
        requests.write(next, due: due, into: &connections[number].outgoing)
        next += 1
        connections[number].due = due
        connections[number].isBusy = true
        connections[number].sent = 0
        tally.sent += 1
        try push(number)
    }

    private mutating func push(_ number: Int) throws(BenchFault) {
        let (bytes, start) = (connections[number].outgoing, connections[number].sent)
        guard connections[number].isBusy, start < bytes.count else { return }
        guard let count = Socket.send(bytes, from: start, to: connections[number].socket) else {
            return try fail(number)
        }
        connections[number].sent += count
        let isPartial = connections[number].sent < bytes.count
        if isPartial || start > 0 { poller.watch(connections[number].socket, tag: number, forRoom: isPartial) }
    }

    private mutating func pull(_ number: Int) throws(BenchFault) {
        switch Socket.receive(connections[number].socket, into: &buffer) {
        case .nothing: return
        case .closed: try fail(number)
        case .bytes(let count):
            let response = try take(count, number)
            guard let response else { return }
            guard connections[number].isBusy else { throw BenchFault("an answer to nothing: \(response.status)") }
            tally.note(response.status, due: connections[number].due, at: Ticks.now(), within: deadline)
            try release(number, reopen: response.mustClose)
        }
    }

    private mutating func take(_ count: Int, _ number: Int) throws(BenchFault) -> ResponseReader.Response? {
        var reader = connections[number].reader
        connections[number].reader = ResponseReader()
        let result = buffer.withUnsafeBytes { bytes in
            Result { () throws(BenchFault) in try reader.take(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
        connections[number].reader = reader
        return try result.get()
    }

    /// The connection went: a request in flight has failed, and the place is taken by a new connection.
    private mutating func fail(_ number: Int) throws(BenchFault) {
        if connections[number].isBusy { tally.noteBroken(due: connections[number].due) }
        try release(number, reopen: true)
    }

    private mutating func release(_ number: Int, reopen: Bool) throws(BenchFault) {
        if connections[number].isBusy { idle.append(number) }
        connections[number].isBusy = false
        guard reopen else { return }
        tally.reopened += 1
        close(connections[number].socket)
        connections[number].reader.forget()
        connections[number].socket = try Socket.connect(port: port)
        poller.add(connections[number].socket, tag: number)
    }
}
