extension Pool {
    public struct Settings: Sendable {
        public var conninfo: String
        public var lanes = 8
        public var applicationName = "enfilade"
        public var searchPath = "public"
        /// Milliseconds, as the two below; zero is no limit.
        public var statementTimeout = 5_000
        public var lockTimeout = 2_000
        public var idleInTransactionTimeout = 10_000
        /// How long the server may take for an exchange before its connection is given up; nil is for ever.
        ///
        /// The limits above are kept by the server, which may itself stand still or be cut off.
        public var answerWithin: Duration? {
            statementTimeout == 0 ? nil : .milliseconds(statementTimeout) + .seconds(3)
        }
        /// Calls that may wait for a lane; one more is refused with `.saturated`.
        public var maximumWaiting = 512
        /// When the line would take longer than this to reach an arriving call, the call is refused with `.saturated`.
        public var longestLine: Duration = .seconds(1)
        /// How long a call waits before it is refused with `.saturated`.
        public var waitFor: Duration = .seconds(5)
        /// Prepared statements that a connection keeps.
        public var statements = 256

        public init(conninfo: String) {
            self.conninfo = conninfo
        }
    }

    public struct Figures: Sendable, Equatable {
        public let lanes: Int
        public let connected: Int
        public let leased: Int
        public let waiting: Int
        /// Calls refused with `.saturated`, ever.
        public let turnedAway: Int
        /// Seconds that calls have stood in line, and how many calls lanes took, ever.
        public let waitedFor: Double
        public let served: Int
    }
}

extension Opening {
    init(_ settings: Pool.Settings) {
        self.init(
            settings.conninfo, applicationName: settings.applicationName,
            settings: [
                ("search_path", settings.searchPath),
                ("timezone", "UTC"),
                ("statement_timeout", String(settings.statementTimeout)),
                ("lock_timeout", String(settings.lockTimeout)),
                ("idle_in_transaction_session_timeout", String(settings.idleInTransactionTimeout)),
            ])
    }
}
