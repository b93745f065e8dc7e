import Testing

@testable import HTTP

/// A request as raw text and what must come of it.
struct RawCase: Sendable, CustomTestStringConvertible {
    enum Fate: Sendable {
        case open, closed
        /// The library answers before we are asked, and closes; version 0.9 writes two heads for some faults, the second
        /// into what the first announces as its body.
        case closedByLibrary(heads: Int)
        /// The library closes without a word.
        case closedSilently
    }

    struct Expected: Sendable {
        var statuses: [Int]
        var fate: Fate
        /// The handlers that must have run; nothing behind a refused request may be among them.
        var executed: [String] = []
    }

    let name: String
    let request: String
    private let expected: Expected
    private var expectedOfNewer: Expected?

    /// What the library that the tests run on makes of it.
    var outcome: Expected { Daemon.isOld ? expected : expectedOfNewer ?? expected }

    var testDescription: String { name }

    private init(_ name: String, _ request: String, _ expected: Expected) {
        self.name = name
        self.request = request
        self.expected = expected
    }

    static func served(_ name: String, _ request: String, _ executed: String..., status: Int = 200) -> RawCase {
        let statuses = [Int](repeating: status, count: max(executed.count, 1))
        return RawCase(name, request, Expected(statuses: statuses, fate: .open, executed: executed))
    }

    static func refused(_ name: String, _ request: String, _ status: Int) -> RawCase {
        RawCase(name, request, Expected(statuses: [status], fate: .closed))
    }

    /// Refused by the library itself, in version 0.9 often with a second head.
    static func refusedByLibrary(_ name: String, _ request: String, _ status: Int, heads: Int = 1) -> RawCase {
        let row = RawCase(name, request, Expected(statuses: [status], fate: .closedByLibrary(heads: heads)))
        return heads == 1 ? row : row.newerRefuses(status)
    }

    /// What to the library is no request at all.
    static func closedSilently(_ name: String, _ request: String) -> RawCase {
        RawCase(name, request, Expected(statuses: [], fate: .closedSilently))
    }

    static func other(
        _ name: String, _ request: String, _ statuses: [Int], _ fate: Fate, _ executed: [String] = []
    ) -> RawCase {
        RawCase(name, request, Expected(statuses: statuses, fate: fate, executed: executed))
    }

    /// What version 1.0 and later make of it, where that is something else.
    func newer(_ statuses: [Int], _ fate: Fate, _ executed: [String] = []) -> RawCase {
        var changed = self
        changed.expectedOfNewer = Expected(statuses: statuses, fate: fate, executed: executed)
        return changed
    }

    /// Version 1.0 and later refuse it themselves.
    func newerRefuses(_ status: Int) -> RawCase { newer([status], .closedByLibrary(heads: 1)) }

    /// To version 1.0 and later it is no request at all.
    func newerCloses() -> RawCase { newer([], .closedSilently) }
}

/// Requests that servers and proxies have disagreed about, and what this server does with each.
enum HostileRequests {
    /// What would be run if a refused request's end were misjudged.
    static let next = "GET /fast HTTP/1.1\r\nHost: smuggled\r\n\r\n"

    static func get(_ lines: String, _ path: String = "/fast") -> String { "GET \(path) HTTP/1.1\r\n\(lines)\r\n" }

    static func post(_ lines: String, _ body: String = "") -> String {
        "POST /echo HTTP/1.1\r\nHost: x\r\n\(lines)\r\n\(body)"
    }

    static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked\r\n", body) }

    /// A request line, in a request that is otherwise in order.
    static func line(_ line: String) -> String { "\(line)\r\nHost: x\r\n\r\n" }

    static func target(_ target: String) -> String { get("Host: x\r\n", target) }

    /// A field line, in a request that is otherwise in order.
    static func field(_ line: String) -> String { get("Host: x\r\n\(line)\r\n") }

    static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
}
