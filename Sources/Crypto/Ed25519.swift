import CSodium

/// Ed25519 (RFC 8032) with public keys only.
public enum Ed25519 {
    public static let keySize = Int(crypto_sign_PUBLICKEYBYTES)
    public static let signatureSize = Int(crypto_sign_BYTES)

    /// The order of the main subgroup plus one, little-endian.
    private static let orderPlusOne: [UInt8] = [
        0xee, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
    ]

    /// Whether the signature is the key's over exactly this message.
    ///
    /// Malleable signatures and low-order keys are refused.
    public static func verify(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
        Sodium.start()
        guard signature.count == signatureSize, publicKey.count == keySize else { return false }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    /// Whether the bytes are a canonical point of the prime-order subgroup other than the neutral one.
    public static func isAcceptable(publicKey: [UInt8]) -> Bool {
        Sodium.start()
        guard publicKey.count == keySize, crypto_core_ed25519_is_valid_point(publicKey) == 1 else { return false }
        // libsodium up to 1.0.20 lets a point through whose part outside the subgroup has order two (CVE-2025-69277).
        // Multiplying by the order plus one returns a point to itself only when it has no such part.
        return Sodium.output(keySize) { crypto_scalarmult_ed25519_noclamp($0, orderPlusOne, publicKey) } == publicKey
    }
}
