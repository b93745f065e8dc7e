import API
import Contract
import Crypto
import Domain
import HTTP
import Wire

/// `GET /openapi.yaml`: the wire contract, as this binary was built with it.
struct ShowDocument: InstantEndpoint {
    static let route = Route(.get, "/openapi.yaml", produces: ["application/yaml"])

    private static let tag = ETag(hashing: Contract.document)

    func respond(to request: Request) throws(Failure) -> Response {
        guard !request.holds(Self.tag) else { return .notModified(Self.tag) }
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "application/yaml"), ("ETag", Self.tag.text), ("Cache-Control", "public, no-cache"),
            ], body: .bytes(Contract.document))
    }
}

extension ETag {
    /// The tag of a document that has no version but itself.
    init(hashing bytes: [UInt8]) { self.init(opaque: Base64URL.encode(Array(BLAKE2b.hash(bytes).prefix(12)))) }
}
