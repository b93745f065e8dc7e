import Domain
import Lanes
import Synchronization
import Wire

/// A verified access token, and what was last known of its session.
final class KnownToken: Sendable {
    let token: AccessToken
    // A binding never changes while the session lives: whoever sets it sets the same, and `isBound` when it is there.
    private let isBound = Atomic(false)
    private let deviceHigh = Atomic<UInt64>(0)
    private let deviceLow = Atomic<UInt64>(0)
    /// The era of `SessionWatch` in which the session was last found alive; 0 is none.
    let aliveIn = Atomic<UInt64>(0)

    init(_ token: AccessToken) { self.token = token }

    /// The device of the session, as far as it has been bound to one.
    var device: DeviceID? {
        guard isBound.load(ordering: .acquiring) else { return nil }
        return DeviceID(UUID(high: deviceHigh.load(ordering: .relaxed), low: deviceLow.load(ordering: .relaxed)))
    }

    func bind(to device: DeviceID) {
        deviceHigh.store(device.uuid.high, ordering: .relaxed)
        deviceLow.store(device.uuid.low, ordering: .relaxed)
        isBound.store(true, ordering: .releasing)
    }
}

/// Access tokens that were verified before, at most twice `half` of them: the older half is forgotten at once.
///
/// Verifying an Ed25519 signature takes far longer than the rest of a small request; a token is shown hundreds of times.
final class TokenCache: Sendable {
    private struct State {
        var young: [Key: KnownToken] = [:]
        var old: [Key: KnownToken] = [:]
    }

    /// Hashed by the end of the signature, which is as good as random; compared as a whole.
    private struct Key: Hashable {
        let text: String

        func hash(into hasher: inout Hasher) {
            hasher.combine(text.utf8.suffix(10).reduce(0) { $0 &* 67 &+ UInt64($1) })
        }
    }

    private let half: Int
    private let shards: Shards<State>

    init(half: Int = 4096, shards: Int = 16) {
        self.half = max(1, half / shards)
        self.shards = Shards(shards) { State() }
    }

    subscript(text: String) -> KnownToken? {
        let key = Key(text: text)
        return shards.withLock(for: key) { state in
            if let token = state.young[key] { return token }
            guard let token = state.old[key] else { return nil }
            Self.add(token, key, half, to: &state)
            return token
        }
    }

    func keep(_ token: KnownToken, for text: String) {
        let key = Key(text: text)
        shards.withLock(for: key) { Self.add(token, key, half, to: &$0) }
    }

    private static func add(_ token: KnownToken, _ key: Key, _ half: Int, to state: inout State) {
        if state.young.count >= half { state = State(old: state.young) }
        state.young[key] = token
    }
}
