import API
import Crypto
import HTTP
import Wire

/// A JSON document that anybody may read and keep for five minutes.
struct PublicDocument: Sendable {
    private let bytes: [UInt8]
    private let tag: ETag

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = ETag(opaque: Base64URL.encode(Array(BLAKE2b.hash(bytes).prefix(12))))
    }

    func answer(_ request: Request) -> Response {
        let headers = [("ETag", tag.text), ("Cache-Control", "public, max-age=300")]
        guard !request.holds(tag) else { return Response(status: 304, headers: headers, body: .empty) }
        return Response(
            status: 200, headers: headers + [("Content-Type", "application/json")], body: .bytes(bytes))
    }
}
