import Wire

/// Why a compact JWS was refused.
///
/// For logs and tests; a client is told only that its token is not valid.
public enum JWSFault: Error, Equatable, Sendable {
    case tooLarge, malformed, algorithm, type, critical, unknownKey, signature
}

/// Compact JWS (RFC 7515), narrowed to one algorithm: EdDSA with Ed25519 (RFC 8037).
public enum JWS {
    /// The longest text that is looked at, in bytes.
    public static let maximumSize = 4096

    private static let dot = UInt8(ascii: ".")

    /// Signs a payload; the header names the algorithm, the key and the type.
    public static func sign(type: String, payload: [UInt8], key: SigningKey) -> String {
        var header = JSONWriter(capacity: 96)
        header.beginObject()
        header.field("alg", "EdDSA")
        header.field("kid", key.keyID)
        header.field("typ", type)
        header.endObject()
        let input = Base64URL.encode(header.finish()) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    /// The payload of a text that one of the keys signed for this type.
    ///
    /// `keys` are public keys by key id; `type` is compared without case and without the prefix `application/`.
    public static func verify(
        _ compact: String, keys: [String: [UInt8]], type: String
    ) throws(JWSFault) -> [UInt8] {
        guard compact.utf8.count <= maximumSize else { throw .tooLarge }
        let text = Array(compact.utf8)
        let parts = text.split(separator: dot, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        let publicKey = try key(named: decode(parts[0]), type: type, among: keys)
        let payload = try decode(parts[1])
        let signature = try decode(parts[2])
        let input = Array(text[..<parts[1].endIndex])
        guard Ed25519.verify(signature: signature, message: input, publicKey: publicKey) else { throw .signature }
        return payload
    }

    private static func decode(_ part: ArraySlice<UInt8>) throws(JWSFault) -> [UInt8] {
        guard let bytes = Base64URL.decode(String(decoding: part, as: UTF8.self)) else { throw .malformed }
        return bytes
    }

    private static func key(
        named header: [UInt8], type: String, among keys: [String: [UInt8]]
    ) throws(JWSFault) -> [UInt8] {
        guard let parsed = try? JSON.parse(header, maximumDepth: 4), case .object(let members) = parsed else {
            throw .malformed
        }
        guard members["alg"] == .string("EdDSA") else { throw .algorithm }
        // Extensions that must be understood (RFC 7515 §4.1.11, RFC 7797) are understood by nobody here.
        guard members["crit"] == nil, members["b64"] == nil else { throw .critical }
        guard case .string(let found)? = members["typ"], mediaType(found) == mediaType(type) else { throw .type }
        guard case .string(let keyID)? = members["kid"], let publicKey = keys[keyID] else { throw .unknownKey }
        return publicKey
    }

    /// A media type in the form that is compared: ASCII lower case, without `application/` (RFC 7515 §4.1.9).
    private static func mediaType(_ text: String) -> [UInt8] {
        let lower = text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        let prefix = Array("application/".utf8)
        return lower.starts(with: prefix) ? Array(lower.dropFirst(prefix.count)) : lower
    }
}
