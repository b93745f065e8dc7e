import CSodium

/// An Ed25519 key pair whose secret half never leaves guarded memory except sealed.
public final class SigningKey: Sendable {
    private static let sealingContext = "signing key"
    private static let seedSize = Int(crypto_sign_SEEDBYTES)

    /// The 32-byte public key.
    public let publicKey: [UInt8]
    /// The RFC 7638 thumbprint of the public key, used as `kid`.
    public let keyID: String

    private let seed: SecretBytes
    private let secret: SecretBytes

    /// A new random key.
    public static func generate() -> SigningKey {
        SigningKey(checked: SecretBytes(random: seedSize))
    }

    /// The key that grows from a 32-byte seed; `nil` for any other length.
    public convenience init?(seed: consuming [UInt8]) {
        let secret = SecretBytes(copying: seed)
        guard secret.count == Self.seedSize else { return nil }
        self.init(checked: secret)
    }

    /// The key that an earlier `sealed(by:)` put away.
    public convenience init(opening sealed: [UInt8], by sealing: Sealing) throws(SealingFault) {
        let seed = try sealing.openSecret(sealed, for: Self.sealingContext)
        guard seed.count == Self.seedSize else { throw SealingFault() }
        self.init(checked: seed)
    }

    private init(checked seed: consuming SecretBytes) {
        var publicKey = [UInt8](repeating: 0, count: Ed25519.keySize)
        secret = SecretBytes(count: Int(crypto_sign_SECRETKEYBYTES)) { target in
            let status = seed.withOctets { crypto_sign_seed_keypair(&publicKey, target, $0) }
            precondition(status == 0, "libsodium refused fixed lengths")
        }
        self.seed = seed
        self.publicKey = publicKey
        self.keyID = JWK.thumbprint(publicKey)
    }

    /// The 64-byte signature over a message.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        secret.withOctets { secret in
            Sodium.certain(Ed25519.signatureSize) {
                crypto_sign_detached($0, nil, message, UInt64(message.count), secret)
            }
        }
    }

    /// The key as it may be stored.
    public func sealed(by sealing: Sealing) -> [UInt8] {
        seed.withBytes { sealing.seal($0, for: Self.sealingContext) }
    }
}
