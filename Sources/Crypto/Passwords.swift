public import Domain
public import Lanes

/// Passwords on lanes of their own: one hash is tens of milliseconds and many megabytes, so only a few run at once.
///
/// How many may stand in line is the lane group's bound; beyond it callers are told to come back.
public final class Passwords: Sendable {
    /// Every lane is busy and the line is full, or the memory for one more hash is not there.
    public struct Full: Error, Sendable {
        public var failure: Failure { .busy(.passwords) }
    }

    private let lanes: LaneGroup
    private let cost: PasswordHash.Cost

    public init(lanes: LaneGroup, cost: PasswordHash.Cost = .standard) {
        self.lanes = lanes
        self.cost = cost
    }

    /// Makes the decoy, so that the first unknown name takes no longer than the next.
    public func prepare() async throws(Full) {
        try await onLane { PasswordHash.decoy(cost: $0) }
    }

    /// Whether a password would be taken just now: to ask before anything is done for its sake.
    public var hasRoom: Bool { lanes.hasRoom() }

    /// A new hash in PHC form.
    public func hash(_ password: String) async throws(Full) -> String {
        guard let hash = try await onLane({ try? PasswordHash.hash(password, cost: $0) }) else { throw Full() }
        return hash
    }

    /// Whether the password is the hash's; without a hash `false` after the same time.
    ///
    /// Suspects find only half of the line open to them: the rest is kept for those of whom nothing bad is known.
    public func verify(
        _ password: String, against hash: String?, isSuspect: Bool = false
    ) async throws(Full) -> Bool {
        try await onLane(share: isSuspect ? 0.5 : 1) { PasswordHash.verify(password, hash: hash, cost: $0) }
    }

    /// Whether a hash was made at another cost than new ones are.
    public func isOutdated(_ hash: String) -> Bool { PasswordHash.needsRehash(hash, cost: cost) }

    @discardableResult
    private func onLane<R: Sendable>(
        share: Double = 1, _ body: @escaping @Sendable (PasswordHash.Cost) -> R
    ) async throws(Full) -> R {
        let cost = cost
        let outcome: Result<R, Never>
        do throws(LaneGroup.Full) {
            outcome = try await lanes.run(share: share) { () throws(Never) -> R in body(cost) }
        } catch {
            throw Full()
        }
        return outcome.get()
    }
}
