import Wire

/// Ed25519 public keys as JSON Web Keys (RFC 8037).
public enum JWK {
    /// The RFC 7638 thumbprint: SHA-256 over the required members in lexical order, base64url.
    public static func thumbprint(_ publicKey: [UInt8]) -> String {
        let members = #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(publicKey))"}"#
        return Base64URL.encode(SHA256.hash(Array(members.utf8)))
    }

    /// One signature key as a JSON object.
    public static func okp(_ publicKey: [UInt8], keyID: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 192)
        writer.beginObject()
        writer.field("kty", "OKP")
        writer.field("crv", "Ed25519")
        writer.field("x", Base64URL.encode(publicKey))
        writer.field("kid", keyID)
        writer.field("use", "sig")
        writer.field("alg", "EdDSA")
        writer.endObject()
        return writer.finish()
    }

    /// The JWKS document of keys by their id, in an order that does not change from call to call.
    public static func set(_ publicKeys: [String: [UInt8]]) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + 192 * publicKeys.count)
        writer.beginObject()
        writer.key("keys")
        writer.beginArray()
        for (keyID, publicKey) in publicKeys.sorted(by: { $0.key < $1.key }) {
            writer.raw(okp(publicKey, keyID: keyID))
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}
