import Domain
import Store
import Wire

/// Clears away what time has ended: expired sessions are ended, and rows nobody can ask for any more are deleted.
///
/// One node does it for all, in small transactions, so that no sweep holds up a sign-in.
struct SessionSweeper: Service {
    private static let pause = Duration.seconds(60)
    private static let batch = 500

    let database: Database
    let observe: Observe

    func run() async {
        var isFaltering = false
        while !Task.isCancelled {
            do throws(Failure) {
                // A full batch means that more is waiting.
                while !Task.isCancelled, try await sweep() {}
                if isFaltering { observe(.recovered(task: "session sweeper")) }
                isFaltering = false
            } catch {
                if !isFaltering { observe(.faltered(task: "session sweeper", cause: error.cause)) }
                isFaltering = true
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Returns whether there was as much as one sweep takes.
    private func sweep() async throws(Failure) -> Bool {
        try await database.transaction { (tx) throws(Failure) in
            guard try tx.take(.sweepSessions) else { return false }
            let expired = try tx.expiredSessions(limit: Self.batch)
            for session in expired { try tx.expire(session) }
            let deleted = try tx.sweepRows(limit: Self.batch)
            return expired.count == Self.batch || deleted.contains(Self.batch)
        }
    }
}

extension Transaction {
    /// Ends a live session whose time is over.
    func expire(_ session: SessionID) throws(Failure) {
        guard try endSession(session, because: .expired) else { return }
        record(
            Deed(.sessionEnded, of: .session(session), reason: SessionEnding.expired.rawValue),
            by: Actor(kind: .system, session: session))
    }
}
