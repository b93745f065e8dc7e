import Domain
import Postgres
import Store
import Wire

/// Makes a new signing key when the newest one has signed long enough, and brings every node to know all keys.
///
/// A key is published before it signs, so that by then every node and every client that keeps the key set for a few
/// minutes knows it; it stays published until the last token it signed has expired.
struct KeyRotation: Service {
    private static let pause = Duration.seconds(60)
    private static let lead = Duration.seconds(900)
    /// How much longer than its tokens a key is published.
    private static let slack = Duration.seconds(86_400)

    let ring: KeyRing
    let database: Database
    let settings: Login.Settings
    let observe: Observe

    func run() async {
        var isFaltering = false
        while !Task.isCancelled {
            // Without a key nothing can be signed, so this node looks more often.
            let isReady = ring.signer(at: database.clock.now()) != nil
            try? await Task.sleep(for: isReady ? Self.pause : .seconds(1))
            guard !Task.isCancelled else { return }
            do throws(Failure) {
                try await renew()
                if isFaltering { observe(.recovered(task: "signing keys")) }
                isFaltering = false
            } catch {
                if !isFaltering { observe(.faltered(task: "signing keys", cause: error.cause)) }
                isFaltering = true
            }
        }
    }

    /// Returns when there is a key that signs, made here or by another node that was quicker.
    func ensureKey() async throws(Failure) {
        for _ in 0..<100 {
            try await renew()
            guard ring.signer(at: database.clock.now()) == nil else { return }
            try? await Task.sleep(for: .milliseconds(50))
        }
        throw .unavailable(cause: "no signing key, and another node holds the duty of making one")
    }

    private func renew() async throws(Failure) {
        let (ring, settings) = (ring, settings)
        let keys = try await database.transaction(.underWay) { (tx) throws(Failure) -> [StoredKey] in
            let keys = try tx.signingKeys()
            guard let next = Self.due(after: keys, at: tx.now, settings) else { return keys }
            guard try tx.take(.rotateKeys) else { return keys }
            // Another node may have made it before this one got the duty.
            let current = try tx.signingKeys()
            guard Self.due(after: current, at: tx.now, settings) != nil else { return current }
            let key = ring.made(activatesAt: next, retiresAt: next + settings.keyRotation + Self.slack)
            try tx.keepSigningKeys(until: next + settings.accessTokenLife + Self.lead)
            try tx.deleteRetiredKeys()
            try tx.insert(key)
            tx.record(Deed(.signingKeyMade, of: Deed.Target(.signingKey, key.id)), by: Actor(kind: .system))
            return current + [key]
        }
        try ring.load(keys)
    }

    /// When a key that is to be made now should begin to sign; `nil` when none is to be made.
    static func due(after keys: [StoredKey], at now: Instant, _ settings: Login.Settings) -> Instant? {
        guard let newest = keys.max(by: { $0.activatesAt < $1.activatesAt }) else { return now }
        guard newest.activatesAt + settings.keyRotation <= now else { return nil }
        return now + lead
    }
}
