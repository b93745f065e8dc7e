public import Domain
public import Glibc
import Synchronization
import Wire

/// The log: one JSON object per line on standard error, made from observations alone.
///
/// It can hold no secret because an observation has no place for one: requests are told by their pattern, never by their
/// URL, headers or body, and causes name no values. Lines of requests that went well come some milliseconds late, together;
/// all others are there when `note` returns, behind what came before them.
public final class Log: Sendable {
    private let output: LineWriter
    private let clock: any Clock
    /// Requests turned away by each line since that was last told, and when.
    private let turnedAway = Mutex<[Queue: (count: Int, toldAt: Instant?)]>([:])
    private static let pause = Duration.seconds(10)

    public init(descriptor: Int32 = STDERR_FILENO, clock: any Clock) {
        output = LineWriter(descriptor)
        self.clock = clock
    }

    public func note(_ observation: Observation) {
        switch observation {
        case .started(let address, let version):
            tell("started") { writer in
                writer.field("address", address)
                writer.field("version", version)
            }
        case .draining: tell("draining")
        case .stopped: tell("stopped")
        case .request(let request): tell(request)
        case .failed(let requestID, let route, let cause):
            tell("failed", "error") { writer in
                writer.field("requestId", requestID)
                writer.field("route", route)
                writer.field("cause", Self.shortened(cause))
            }
        case .turnedAway(let queue): noteTurnedAway(from: queue)
        case .advice(let words): tell("advice", "warning") { $0.field("words", "\(words)") }
        case .faltered(let task, let cause):
            tell("faltered", "error") { writer in
                writer.field("task", plain: task)
                writer.field("cause", Self.shortened(cause))
            }
        case .recovered(let task): tell("recovered") { $0.field("task", plain: task) }
        case .migrated(let version, let name):
            tell("migrated") { writer in
                writer.field("version", version)
                writer.field("name", name)
            }
        case .swept(let items, let messages):
            tell("swept") { writer in
                writer.field("items", items)
                writer.field("messages", messages)
            }
        // Only counted, by the metrics.
        case .limited, .committed, .sequenced, .signedIn, .refreshRepeated, .streamOpened, .streamClosed, .eventsSent:
            break
        }
    }

    private func tell(_ request: RequestObservation) {
        let isOurs = request.status >= 500
        let line = line("request", isOurs ? "error" : "info") { writer in
            writer.field("requestId", request.requestID)
            writer.field("method", request.method)
            writer.field("route", request.route)
            writer.field("status", request.status)
            writer.field("milliseconds", Int(request.seconds * 1000))
            writer.field("bytesIn", request.bytesIn)
            writer.field("bytesOut", request.bytesOut)
            writer.field("peer", request.peer)
            if let client = request.client { writer.field("client", client) }
            writer.field("ending", plain: request.ending)
        }
        if isOurs { output.write(line) } else { output.writeSoon(line) }
    }

    /// A line that is too long turns away hundreds a second: they are told of together, now and then.
    private func noteTurnedAway(from queue: Queue) {
        let now = clock.now()
        let due = turnedAway.withLock { known -> Int? in
            var mine = known[queue] ?? (count: 0, toldAt: nil)
            mine.count += 1
            defer { known[queue] = mine }
            if let toldAt = mine.toldAt, toldAt <= now, now.duration(since: toldAt) < Self.pause { return nil }
            defer { mine = (count: 0, toldAt: now) }
            return mine.count
        }
        guard let due else { return }
        tell("turned-away", "warning") { writer in
            writer.field("queue", queue.rawValue)
            writer.field("requests", due)
        }
    }

    private func tell(
        _ event: StaticString, _ level: StaticString = "info", _ fields: (inout JSONWriter) -> Void = { _ in }
    ) {
        output.write(line(event, level, fields))
    }

    private func line(_ event: StaticString, _ level: StaticString, _ fields: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("time", clock.now())
        writer.field("level", plain: level)
        writer.field("event", plain: event)
        fields(&writer)
        writer.endObject()
        return writer.finishLine()
    }

    /// In bytes; escaped, each may become six, and a line must not be longer than what is written in one piece.
    private static let longestCause = 512

    private static func shortened(_ cause: String) -> String {
        guard cause.utf8.count > longestCause else { return cause }
        return String(decoding: cause.utf8.prefix(longestCause), as: UTF8.self) + "…"
    }
}
