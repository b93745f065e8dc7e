import API
import Contract
import Domain
import HTTP

/// `GET /openapi.yaml`: the wire contract, as this binary was built with it.
struct ShowDocument: InstantEndpoint {
    static let route = Route(.get, "/openapi.yaml", produces: ["application/yaml"])

    private static let tag = ETag(opaque: Program.version)

    func respond(to request: Request) throws(Failure) -> Response {
        guard !request.holds(Self.tag) else { return .notModified(Self.tag) }
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "application/yaml"), ("ETag", Self.tag.text), ("Cache-Control", "public, no-cache"),
            ], body: .bytes(Contract.document))
    }
}
