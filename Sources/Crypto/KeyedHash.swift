import CSodium

/// BLAKE2b under a secret key: what the database keeps in place of a token.
///
/// A stolen table of such hashes can neither be searched by guessing nor be written with forged rows.
public final class KeyedHash: Sendable {
    private let key: SecretBytes

    /// A hash under a key of 16 to 64 bytes.
    public init(key: consuming SecretBytes) {
        precondition((16...64).contains(key.count), "BLAKE2b takes keys of 16 to 64 bytes")
        self.key = key
    }

    /// The 32-byte hash.
    public func hash(_ bytes: [UInt8]) -> [UInt8] {
        key.withOctets { secret in
            Sodium.certain(BLAKE2b.size) {
                crypto_generichash($0, BLAKE2b.size, bytes, UInt64(bytes.count), secret, key.count)
            }
        }
    }

    /// The 32-byte hash of a text's UTF-8.
    public func hash(_ text: String) -> [UInt8] {
        hash(Array(text.utf8))
    }

    /// Whether the bytes have that hash, in constant time.
    public func matches(_ bytes: [UInt8], hash expected: [UInt8]) -> Bool {
        ConstantTime.equal(hash(bytes), expected)
    }
}
