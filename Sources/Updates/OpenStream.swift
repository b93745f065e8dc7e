import API
import Domain
import HTTP
import Store
import Wire

/// `GET /v1/events`: everything that this session may hear of, missed first, then as it happens.
struct OpenStream: Endpoint {
    static let route = Route(.get, "/v1/events", produces: ["text/event-stream"])
    static let access = Access.device(.mailbox, .mailboxRead, .config)

    let database: Database
    let sources: [any UpdateSource]
    let registry: Registry
    let observe: Observe
    let draining: Flag

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard !draining.isRaised else { return .stream(Farewell(retry: Self.retry)) }
        guard let device = caller.device else { throw .forbidden("Enrol this session's device first.") }
        let listener = Listener(caller: caller, device: device)
        let cursor = try cursor(of: request, listener)
        guard registry.reserve(device: device, account: caller.account) else {
            throw .limited(retryAfter: 5, "This device or account has as many streams as it may: close one first.")
        }
        do throws(Failure) {
            return .stream(try await open(listener, at: cursor))
        } catch {
            registry.release(device: device, account: caller.account)
            throw error
        }
    }

    private func cursor(of request: Request, _ listener: Listener) throws(Failure) -> StreamCursor? {
        let parameters = try request.parameters("lastEventId")
        guard let text = request.head.headers["last-event-id"] ?? parameters["lastEventId"], !text.isEmpty else {
            return nil
        }
        return try StreamCursor(text, of: listener)
    }

    private func open(_ listener: Listener, at cursor: StreamCursor?) async throws(Failure) -> UpdateStream {
        var feeds: [(letter: UInt8, feed: any UpdateFeed)] = []
        for source in sources where source.serves(listener) {
            feeds.append((source.letter, try await source.open(listener, at: cursor?.positions[source.letter])))
        }
        let stream = UpdateStream(
            listener: listener, feeds: feeds, retry: Self.retry, endsAt: deadline(of: listener.caller),
            observe: observe,
            onClose: { [registry] stream in
                registry.remove(stream)
                registry.release(device: stream.listener.device, account: stream.listener.caller.account)
            })
        registry.add(stream)
        do throws(Failure) {
            // Registered first and looked up then: an end in between rings the bell or is seen here.
            let isLive = try await database.askFirst(.isLive(listener.caller.session))
            guard isLive == true else { throw .unauthenticated(.sessionEnded) }
        } catch {
            registry.remove(stream)
            throw error
        }
        return stream
    }

    /// A little before the token ends, not for all streams at the same moment.
    private func deadline(of caller: Caller) -> Int64 {
        let left =
            caller.expiresAt.duration(since: database.clock.now()) - .milliseconds(Int.random(in: 5_000...25_000))
        let (seconds, attoseconds) = max(left, .seconds(1)).components
        return Monotonic.now() + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Milliseconds until a client comes back, random so that thousands do not come together.
    private static var retry: Int { Int.random(in: 2_000...10_000) }
}

/// A stream that says goodbye at once.
///
/// Any status but 200 would stop a browser's `EventSource` for good.
private final class Farewell: EventSource {
    let opening: [UInt8]

    init(retry: Int) { opening = UpdateStream.opening(retry: retry) }

    func opened(_ stream: EventStream) { stream.end(with: UpdateStream.goodbye) }

    func writable(_ stream: EventStream) {}

    func closed(_ stream: EventStream, _ end: EventStream.End) {}
}

extension Response {
    fileprivate static func stream(_ source: any EventSource) -> Response {
        Response(status: 200, body: .events(source))
    }
}
