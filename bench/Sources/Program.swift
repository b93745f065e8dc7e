// Bench: what bin/bench needs at speed: load over HTTP, thousands of event streams, access tokens in bulk.
//
// One thread each, plain sockets and epoll, so that a small machine has most of its time for what is measured. The rest of
// the bench (databases, processes, figures, tables) is bench/*.py. It is no part of the server and knows none of its
// features: a request is bytes from a file, an answer is a status.
import Glibc

enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        do throws(BenchFault) {
            guard let verb = arguments.first else {
                throw BenchFault("usage: Bench load|streams|tokens --option value …")
            }
            let options = try Options(Array(arguments.dropFirst()))
            switch verb {
            case "load":
                var run = try LoadRun(options)
                try run.run()
            case "streams":
                var run = try StreamRun(options)
                try run.run()
            case "tokens": try Tokens(options).run()
            default: throw BenchFault("there is no verb \(verb)")
            }
            return 0
        } catch {
            Output.write("Bench: \(error.detail)\n", to: STDERR_FILENO)
            return 1
        }
    }
}

/// Why a run cannot go on.
struct BenchFault: Error {
    let detail: String

    init(_ detail: String) { self.detail = detail }

    init(call: String) { detail = "\(call): \(String(cString: strerror(errno)))" }
}

/// Options of the form `--name value`.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: [String]) throws(BenchFault) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else { throw BenchFault("\(name) has no value") }
            values[String(name.dropFirst(2))] = value
        }
    }

    func text(_ name: String) throws(BenchFault) -> String {
        guard let value = values[name] else { throw BenchFault("--\(name) is needed") }
        return value
    }

    func text(_ name: String, or standard: String) -> String { values[name] ?? standard }

    func number<Number: LosslessStringConvertible>(_ name: String, or standard: Number) throws(BenchFault) -> Number {
        guard let text = values[name] else { return standard }
        guard let number = Number(text) else { throw BenchFault("--\(name): '\(text)' is no number") }
        return number
    }

    func port() throws(BenchFault) -> UInt16 {
        guard let port = UInt16(try text("port")) else { throw BenchFault("--port is no port") }
        return port
    }
}

enum Output {
    static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

enum Ticks {
    static let perSecond: Int64 = 1_000_000_000

    /// Nanoseconds of the clock that all processes of a machine share and that never goes back.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * perSecond + Int64(time.tv_nsec)
    }
}
