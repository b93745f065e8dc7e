import Domain
import Synchronization
import Wire

/// Which readings of the log this node has written into the log lately.
///
/// A reader that polls asks the same again and again; one entry a minute says so without filling the log with its own
/// readers.
final class ReadNotes: Sendable {
    struct Reading: Hashable, Sendable {
        let session: SessionID
        let filter: Filter
    }

    private static let period = Duration.seconds(60)
    private static let capacity = 4_096

    private let noted = Mutex<[Reading: Instant]>([:])

    func isDue(_ reading: Reading, at now: Instant) -> Bool {
        noted.withLock { noted in noted[reading].map { !Self.isRecent($0, at: now) } ?? true }
    }

    /// Notes what has been written; when there are too many notes they are dropped, and more is written than needed.
    func note(_ reading: Reading, at now: Instant) {
        noted.withLock { noted in
            if noted.count >= Self.capacity { noted = noted.filter { Self.isRecent($0.value, at: now) } }
            if noted.count >= Self.capacity { noted = [:] }
            noted[reading] = now
        }
    }

    private static func isRecent(_ instant: Instant, at now: Instant) -> Bool {
        instant <= now && now.duration(since: instant) < period
    }
}
