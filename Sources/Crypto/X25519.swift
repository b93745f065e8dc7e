import CSodium

/// X25519 (RFC 7748) with public keys only: the server agrees on no secret with anybody.
public enum X25519 {
    public static let keySize = Int(crypto_scalarmult_BYTES)

    /// Any secret finds a low-order point: clamping makes every scalar a multiple of all low orders.
    private static let probe: [UInt8] = [UInt8](repeating: 1, count: keySize)

    /// Whether the bytes are a canonical coordinate of a point that is not of low order.
    ///
    /// Canonical: below 2^255 - 19, top bit clear.
    public static func isAcceptable(publicKey: [UInt8]) -> Bool {
        guard publicKey.count == keySize, isCanonical(publicKey) else { return false }
        return Sodium.output(keySize) { crypto_scalarmult_curve25519($0, probe, publicKey) } != nil
    }

    private static func isCanonical(_ key: [UInt8]) -> Bool {
        guard key[31] & 0x80 == 0 else { return false }
        // 2^255 - 19 is 0xed, thirty times 0xff, 0x7f in little-endian order.
        return key[31] != 0x7f || key[0] < 0xed || key[1...30].contains { $0 != 0xff }
    }
}
