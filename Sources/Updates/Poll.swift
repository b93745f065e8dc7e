import API
import Domain
import Glibc
import Store

/// Looks at the tables for what no bell told: bells are hints, and another node's may be lost.
///
/// All idle streams are asked about together, so that thousands of them cost a few statements every few seconds.
struct Poll: Service {
    private static let chunk = 1_000

    let registry: Registry
    let sources: [any UpdateSource]
    let interval: Duration
    let observe: Observe

    func run() async {
        var isFaltering = false
        while !Task.isCancelled {
            try? await Task.sleep(for: interval + interval * Double.random(in: 0...0.2))
            guard !Task.isCancelled else { return }
            do throws(Failure) {
                let streams = registry.all
                for source in sources { try await look(at: source, for: streams) }
                for stream in streams { stream.nudge() }
                if isFaltering { observe(.recovered(task: "updates-poll")) }
                isFaltering = false
            } catch {
                if !isFaltering { observe(.faltered(task: "updates-poll", cause: error.cause)) }
                isFaltering = true
            }
        }
    }

    private func look(at source: any UpdateSource, for streams: [UpdateStream]) async throws(Failure) {
        let idle = streams.compactMap { stream in
            stream.idlePosition(of: source.letter).map { (stream: stream, feed: $0.feed, position: $0.position) }
        }
        var rest = idle[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.chunk)
            rest = rest.dropFirst(Self.chunk)
            let haveMore = try await source.haveMore(chunk.map { ($0.feed, $0.position) })
            for (entry, hasMore) in zip(chunk, haveMore) where hasMore { entry.stream.look(at: source.letter) }
        }
    }
}
