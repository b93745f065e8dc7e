public import API
public import Domain
public import Store
import Wire

/// Messages as ciphertext, waiting in one mailbox for each (device, app).
///
/// Takes messages (many of them in one commit), hands them out in the order of their commits, forgets what was
/// acknowledged or is too old. It never looks into a ciphertext, never audits who writes to whom, and never answers a send
/// before it is durable.
public final class Mailboxes: Sendable {
    let committer: Committer
    private let sweeper: Sweeper
    private let recent: RecentItems
    private let database: Database
    private let limits: Limits
    private let rates: SendLimit

    public init(database: Database, limits: Limits = Limits(), observe: @escaping Observe) {
        self.database = database
        self.limits = limits
        rates = SendLimit(limits)
        recent = RecentItems(clock: database.clock)
        sweeper = Sweeper(database: database, limits: limits, observe: observe)
        committer = Committer(
            database: database, limits: limits, recent: recent, sweeper: sweeper, observe: observe)
    }

    public var endpoints: [Mounted] {
        [
            SendMessage(committer: committer, limits: limits, rates: rates, clock: database.clock).mounted
                .limited(to: limits.bodyBytes),
            ReadMailbox(database: database, limits: limits).mounted,
            AcknowledgeMailbox(database: database).mounted,
        ]
    }

    public var services: [any Service] { [committer, sweeper] }

    /// What event streams carry of mailboxes.
    public var updates: any UpdateSource { MailboxSource(database: database, recent: recent) }

    public var figures: Figures {
        let queue = committer.figures
        let kept = recent.figures
        return Figures(
            waitingMessages: queue.messages, waitingBytes: queue.bytes, largestBatch: queue.largestBatch,
            waitedFor: queue.waitedFor,
            recentItems: kept.items, recentBytes: kept.bytes, watchedMailboxes: kept.watched)
    }

    /// Deletes now what is acknowledged or too old; the service does the same from time to time.
    @discardableResult
    public func sweep() async throws(Failure) -> Swept { try await sweeper.sweep() }

    /// Makes every client start over from what it acknowledged: the database was restored from a backup.
    ///
    /// Sequence numbers given since that backup would otherwise be given again, to other messages.
    /// - Returns: how many mailboxes there are.
    @discardableResult
    public static func restored(in tx: borrowing Transaction) throws(Failure) -> Int { try tx.beginNewEpoch() }
}

extension Mailboxes {
    public struct Limits: Sendable {
        public var ciphertextBytes = 64 * 1024
        public var envelopes = 256
        public var bodyBytes = 1024 * 1024
        /// How long an item waits at the most, and a day less than a message id is remembered.
        public var maximumAge = Duration.seconds(30 * 86_400)
        /// When a mailbox holds more, the oldest items go; their device sees a gap `trimmed`.
        public var mailboxItems: Int64 = 10_000
        public var mailboxBytes: Int64 = 64 * 1024 * 1024
        /// Envelopes: a group of a thousand at once, and a device's history to a new one in minutes.
        public var sendsOfDevice = Rate("device-envelopes", per: .device, burst: 10_000, every: .milliseconds(10))
        public var sendsOfAccount = Rate("account-envelopes", per: .account, burst: 20_000, every: .milliseconds(5))
        /// From one account to one device of somebody else: a tenth of a mailbox at once, and that again in six hours.
        public var sendsToDevice: Rate {
            let share = Int(max(1, min(mailboxItems / 10, 1_000_000)))
            let rate = Rate("recipient-envelopes", per: .sender, burst: share, every: .seconds(6 * 3_600) / share)
            return rate.scaled(toPercent: sendsOfDevice.isLimited ? 100 : 0)
        }
        /// Ciphertext in one page.
        public var pageBytes = 1024 * 1024
        /// When a send would wait longer than this for its commit, it is refused.
        public var longestLine = Duration.seconds(1)
        /// Milliseconds that a batch waits for rows that somebody else holds: other nodes' batches hold them for a few.
        public var lockWait = 500
        public var sweepEvery = Duration.seconds(10)

        public init() {}
    }

    public struct Figures: Sendable, Equatable {
        /// Messages that wait for a commit, and their ciphertext.
        public let waitingMessages: Int
        public let waitingBytes: Int
        public let largestBatch: Int
        /// Seconds that messages have waited, ever.
        public let waitedFor: Double
        /// Items in memory for live streams.
        public let recentItems: Int
        public let recentBytes: Int
        public let watchedMailboxes: Int
    }

    public struct Swept: Sendable, Equatable {
        public var items = 0
        public var messages = 0
    }
}
