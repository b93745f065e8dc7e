import API
import Domain
import HTTP
import Store
import Synchronization
import Wire

/// `GET /readyz`: whether a proxy should send requests here.
///
/// 503 while draining, while the database is away, while migrations are missing, while ended sessions cannot be told, and
/// while this machine's clock is more than a minute away from the database's.
struct ShowReadiness: OpenEndpoint {
    static let route = Route.get("/readyz")

    let isDraining: @Sendable () -> Bool
    let isFresh: @Sendable () -> Bool
    let check: SharedCheck

    func respond(to request: Request) async throws(Failure) -> Response {
        guard !isDraining() else { throw .unavailable(cause: "draining") }
        try await check.pass()
        guard isFresh() else { throw .unavailable(cause: "ended sessions have not been read lately") }
        return .json { writer in
            writer.beginObject()
            writer.field("status", "ready")
            writer.endObject()
        }
    }
}

/// Something to be looked up in the database, once at a time however many ask.
final class SharedCheck: Sendable {
    private typealias Outcome = Result<Void, Failure>

    private let look: @Sendable () async throws(Failure) -> Void
    /// Whoever waits for the look that is under way; nothing when none is.
    private let waiting = Mutex<[CheckedContinuation<Outcome, Never>]?>(nil)

    init(_ look: @escaping @Sendable () async throws(Failure) -> Void) { self.look = look }

    func pass() async throws(Failure) {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            let starts = waiting.withLock { waiting in
                defer { waiting = (waiting ?? []) + [continuation] }
                return waiting == nil
            }
            if starts { Task { await self.run() } }
        }
        try outcome.get()
    }

    private func run() async {
        let outcome: Outcome
        do throws(Failure) {
            outcome = .success(try await look())
        } catch {
            outcome = .failure(error)
        }
        let answered = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in answered { continuation.resume(returning: outcome) }
    }
}
