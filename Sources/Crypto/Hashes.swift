import CSodium

/// Comparison whose time says nothing about where two secrets differ.
public enum ConstantTime {
    /// Whether both are the same bytes; only the lengths may show in the time taken.
    public static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && sodium_memcmp(one, other, one.count) == 0
    }
}

/// SHA-256 (FIPS 180-4), where a standard asks for it.
public enum SHA256 {
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        Sodium.certain(Int(crypto_hash_sha256_BYTES)) { crypto_hash_sha256($0, bytes, UInt64(bytes.count)) }
    }
}

/// BLAKE2b (RFC 7693) with 32 bytes of output, for digests that only this server reads.
public enum BLAKE2b {
    static let size = 32

    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        Sodium.certain(size) { crypto_generichash($0, size, bytes, UInt64(bytes.count), nil, 0) }
    }
}
