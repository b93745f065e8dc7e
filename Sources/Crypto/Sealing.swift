import CSodium

/// A sealed value was changed, cut, made under another key or for another context; which of them is nobody's business.
public struct SealingFault: Error, Equatable, CustomStringConvertible {
    public var description: String { "the sealed value does not open with this root key" }
}

/// Authenticated encryption at rest: XChaCha20-Poly1305.
///
/// Sealed form: one version byte, a 24-byte random nonce, the ciphertext, a 16-byte tag. The context is authenticated
/// but not stored, so a value sealed for one column never opens in another.
public final class Sealing: Sendable {
    private static let version: UInt8 = 1
    private static let nonceSize = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    private static let tagSize = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
    private static let overhead = 1 + nonceSize + tagSize

    private let key: SecretBytes

    init(key: consuming SecretBytes) {
        precondition(key.count == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "XChaCha20 takes keys of 32 bytes")
        self.key = key
    }

    /// Seals bytes for one context.
    public func seal(_ plain: [UInt8], for context: String) -> [UInt8] {
        plain.withUnsafeBytes { seal($0, for: context) }
    }

    /// Seals bytes where they lie, without a copy of them.
    func seal(_ plain: UnsafeRawBufferPointer, for context: String) -> [UInt8] {
        let nonce = SystemEntropy().bytes(Self.nonceSize)
        let associated = Array(context.utf8)
        let source = plain.bindMemory(to: UInt8.self)
        let body = key.withOctets { secret in
            Sodium.certain(plain.count + Self.tagSize) {
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    $0, nil, source.baseAddress, UInt64(source.count), associated, UInt64(associated.count), nil, nonce,
                    secret)
            }
        }
        return [Self.version] + nonce + body
    }

    /// Opens what was sealed for the same context.
    public func open(_ sealed: [UInt8], for context: String) throws(SealingFault) -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: max(sealed.count - Self.overhead, 0))
        guard plain.withUnsafeMutableBufferPointer({ open(sealed, for: context, into: $0.baseAddress) }) else {
            throw SealingFault()
        }
        return plain
    }

    /// Opens a sealed secret straight into guarded memory.
    public func openSecret(_ sealed: [UInt8], for context: String) throws(SealingFault) -> SecretBytes {
        try SecretBytes(count: max(sealed.count - Self.overhead, 0)) { (target) throws(SealingFault) in
            guard open(sealed, for: context, into: target) else { throw SealingFault() }
        }
    }

    private func open(_ sealed: [UInt8], for context: String, into plain: UnsafeMutablePointer<UInt8>?) -> Bool {
        Sodium.start()
        guard sealed.count >= Self.overhead, sealed[0] == Self.version else { return false }
        let associated = Array(context.utf8)
        return sealed.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            let nonce = base + 1
            let body = nonce + Self.nonceSize
            let size = UInt64(buffer.count - 1 - Self.nonceSize)
            return key.withOctets { secret in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    plain, nil, nil, body, size, associated, UInt64(associated.count), nonce, secret) == 0
            }
        }
    }
}
