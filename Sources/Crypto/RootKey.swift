import CSodium

/// The one key an operator keeps: every other secret of the server derives from it or is sealed by it.
public final class RootKey: Sendable {
    /// Uses that get a keyed hash of their own.
    ///
    /// Raw values are the 8-byte contexts of the derivation and never change.
    public enum HashPurpose: String, CaseIterable, Sendable {
        case refreshToken = "refresh_"
        case authorizationCode = "authcode"
        case deviceSecret = "devicese"
        case throttle = "throttle"
        case successor = "successr"
    }

    /// Uses that get a sealing key of their own, on the same terms.
    public enum SealingPurpose: String, CaseIterable, Sendable {
        case sealing = "sealing_"
        case signInTicket = "signinrq"
    }

    /// The size of the root key and of everything derived from it, in bytes.
    public static let size = Int(crypto_kdf_KEYBYTES)

    private let secret: SecretBytes

    /// A root key of exactly 32 bytes; anything else is a mistake of the calling code.
    public init(_ secret: consuming SecretBytes) {
        precondition(secret.count == RootKey.size, "a root key has 32 bytes")
        self.secret = secret
    }

    /// The keyed hash of one purpose.
    public func subkey(_ purpose: HashPurpose) -> KeyedHash {
        KeyedHash(key: derive(purpose.rawValue))
    }

    /// The sealing key of one purpose.
    public func subkey(_ purpose: SealingPurpose) -> Sealing {
        Sealing(key: derive(purpose.rawValue))
    }

    private func derive(_ context: String) -> SecretBytes {
        // A shorter context would make the derivation read past its end.
        precondition(context.utf8.count == crypto_kdf_CONTEXTBYTES, "a derivation context has 8 bytes")
        return SecretBytes(count: RootKey.size) { target in
            let status = secret.withOctets { crypto_kdf_derive_from_key(target, RootKey.size, 1, context, $0) }
            precondition(status == 0, "libsodium refused fixed lengths")
        }
    }
}
