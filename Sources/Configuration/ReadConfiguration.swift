import API
import Domain
import HTTP
import Wire

struct ReadConfiguration: Endpoint {
    static let route = Route.get("/v1/config")
    static let access = Access.scope(.config)
    let shelf: PublishedShelf

    func immediate(to request: Request, from caller: Caller) throws(Failure) -> Response? {
        let least = try Self.minRevision(request)
        guard let published = shelf.held(for: caller.app), published.mark.revision >= least else { return nil }
        return Self.answer(published, to: request)
    }

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let least = try Self.minRevision(request)
        return Self.answer(try await shelf.published(for: caller.app, atLeast: least), to: request)
    }

    private static func minRevision(_ request: Request) throws(Failure) -> Int64 {
        guard !request.head.query.isEmpty else { return 0 }
        return try request.parameters("minRevision").integer("minRevision", in: 0...maxRevision) ?? 0
    }

    private static func answer(_ published: Published, to request: Request) -> Response {
        guard !request.holds(published.etag) else { return .notModified(published.etag) }
        return .json(etag: published.etag, bytes: published.answer)
    }
}
