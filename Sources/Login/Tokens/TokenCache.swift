import Synchronization

/// Access tokens that were verified before, at most twice `half` of them: the older half is forgotten at once.
///
/// Verifying an Ed25519 signature takes far longer than the rest of a small request; a token is shown hundreds of times.
final class TokenCache: Sendable {
    private struct State {
        var young: [String: AccessToken] = [:]
        var old: [String: AccessToken] = [:]
    }

    private let half: Int
    private let state = Mutex(State())

    init(half: Int = 4096) { self.half = half }

    subscript(text: String) -> AccessToken? {
        state.withLock { state in
            if let token = state.young[text] { return token }
            guard let token = state.old[text] else { return nil }
            Self.add(token, text, half, to: &state)
            return token
        }
    }

    func keep(_ token: AccessToken, for text: String) {
        state.withLock { Self.add(token, text, half, to: &$0) }
    }

    private static func add(_ token: AccessToken, _ text: String, _ half: Int, to state: inout State) {
        if state.young.count >= half { state = State(old: state.young) }
        state.young[text] = token
    }
}
