import Crypto
import Domain
import Synchronization
import Wire

/// A signing key as the database keeps it.
struct StoredKey: Sendable {
    let id: String
    let publicKey: [UInt8]
    let sealedSeed: [UInt8]
    let activatesAt: Instant
    let retiresAt: Instant
}

/// The signing keys this node knows: one signs, all that have not retired verify.
///
/// A token with an unknown key is simply refused. Nothing is fetched for it, so that forged tokens cannot cause work.
final class KeyRing: Sendable {
    private struct State {
        var known: [(stored: StoredKey, key: SigningKey)] = []
        var verifying: [String: [UInt8]] = [:]
        var published: PublicDocument?
    }

    private let sealing: Sealing
    private let state = Mutex(State())

    init(sealing: Sealing) { self.sealing = sealing }

    var published: PublicDocument? { state.withLock { $0.published } }

    /// Public keys by their id.
    var verifying: [String: [UInt8]] { state.withLock { $0.verifying } }

    /// The key that signs now: the newest that has become active.
    ///
    /// When none has, the clock was set back since the first was made, and that one signs.
    func signer(at now: Instant) -> SigningKey? {
        state.withLock { state in
            let usable = state.known.filter { $0.stored.retiresAt > now }
                .sorted { $0.stored.activatesAt < $1.stored.activatesAt }
            return (usable.last { $0.stored.activatesAt <= now } ?? usable.first)?.key
        }
    }

    /// Replaces what is known by what the database has.
    func load(_ stored: [StoredKey]) throws(Failure) {
        let before = state.withLock { Dictionary($0.known.map { ($0.stored.id, $0.key) }, uniquingKeysWith: { $1 }) }
        var known: [(stored: StoredKey, key: SigningKey)] = []
        for row in stored {
            if let key = before[row.id] { known.append((row, key)) } else { known.append((row, try open(row))) }
        }
        let verifying = Dictionary(stored.map { ($0.id, $0.publicKey) }, uniquingKeysWith: { $1 })
        let published = stored.isEmpty ? nil : PublicDocument(JWK.set(verifying))
        state.withLock { $0 = State(known: known, verifying: verifying, published: published) }
    }

    private func open(_ row: StoredKey) throws(Failure) -> SigningKey {
        let key: SigningKey
        do throws(SealingFault) {
            key = try SigningKey(opening: row.sealedSeed, by: sealing)
        } catch {
            throw .broken(cause: "signing key \(row.id) does not open with this root key")
        }
        guard key.publicKey == row.publicKey, key.keyID == row.id else {
            throw .broken(cause: "signing key \(row.id) is not the key it says it is")
        }
        return key
    }

    /// A new key, ready to be stored.
    func made(activatesAt: Instant, retiresAt: Instant) -> StoredKey {
        let key = SigningKey.generate()
        return StoredKey(
            id: key.keyID, publicKey: key.publicKey, sealedSeed: key.sealed(by: sealing), activatesAt: activatesAt,
            retiresAt: retiresAt)
    }
}
