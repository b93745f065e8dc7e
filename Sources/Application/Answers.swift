import Domain
import HTTP
import Synchronization
import Wire

/// How requests get their ids: the client's own when it is well-formed, else a new one.
///
/// The new ones are time-ordered (RFC 9562 §5.7) and count up from something random (§6.2, method 2), which spares each a
/// call of the system: they have to differ, and it does no harm to guess them.
final class RequestIDs: Sendable {
    private let clock: any Clock
    private let start: UUID
    private let count = Atomic<UInt64>(0)

    init(clock: any Clock, entropy: any Entropy) {
        self.clock = clock
        start = entropy.uuid(at: clock.now())
    }

    func choose(_ headers: Headers) -> String {
        if let given = headers["request-id"], Self.isWellFormed(given) { return given }
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        return UUID.v7(milliseconds: clock.now().milliseconds, entropy: (start.high, start.low &+ number)).description
    }

    /// 1 to 128 of letters, digits and `-._~`: nothing that could mean something in a log.
    private static func isWellFormed(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
                default: false
                }
            }
    }
}

extension Response {
    /// What every answer carries, refusals included.
    mutating func decorate(for head: RequestHead) {
        set("Request-Id", head.id)
        if self["Cache-Control"] == nil { add("Cache-Control", "no-store") }
        add("X-Content-Type-Options", "nosniff")
        if let trace = head.headers["traceparent"], Self.isTraceParent(trace) { add("traceparent", trace) }
    }

    /// Version 00 of W3C Trace Context §3.2: hexadecimal fields of fixed length.
    private static func isTraceParent(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [2, 32, 16, 2]
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) } }
    }
}

extension RequestObservation {
    init(_ exchange: Exchange) {
        let ending: StaticString =
            switch exchange.end {
            case .completed: "completed"
            case .aborted: "aborted"
            case .timeout: "timeout"
            }
        self.init(
            method: exchange.method, route: exchange.routePattern ?? "none", status: exchange.status,
            seconds: Double(exchange.duration) / 1e9, requestID: exchange.requestID, peer: exchange.peer.text,
            client: exchange.client?.text,
            bytesIn: exchange.requestBytes, bytesOut: exchange.responseBytes, ending: ending)
    }
}
