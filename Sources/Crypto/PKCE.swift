import Wire

/// Proof key for code exchange, method S256 (RFC 7636).
public enum PKCE {
    /// The challenge that belongs to a verifier.
    public static func challenge(verifier: String) -> String {
        Base64URL.encode(SHA256.hash(Array(verifier.utf8)))
    }

    /// Whether a verifier has 43 to 128 characters, all unreserved (§4.1).
    public static func isWellFormed(verifier: String) -> Bool {
        (43...128).contains(verifier.utf8.count) && verifier.utf8.allSatisfy(isUnreserved)
    }

    /// Whether a challenge can be an S256 one: 32 bytes in base64url (§4.2).
    public static func isWellFormed(challenge: String) -> Bool {
        challenge.utf8.count == 43 && Base64URL.decode(challenge)?.count == 32
    }

    /// Whether a verifier is well-formed and answers a challenge.
    public static func matches(verifier: String, challenge: String) -> Bool {
        guard isWellFormed(verifier: verifier) else { return false }
        return ConstantTime.equal(Array(PKCE.challenge(verifier: verifier).utf8), Array(challenge.utf8))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
