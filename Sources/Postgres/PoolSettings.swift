extension Pool {
    package struct Settings: Sendable {
        package var conninfo: String
        package var lanes = 8
        package var applicationName = "enfilade"
        package var searchPath = "public"
        /// Milliseconds, as the two below; zero is no limit.
        package var statementTimeout = 5_000
        package var lockTimeout = 2_000
        package var idleInTransactionTimeout = 10_000
        /// How long the server may take for an exchange before its connection is given up; nil is for ever.
        ///
        /// The limits above are kept by the server, which may itself stand still or be cut off.
        package var answerWithin: Duration? {
            statementTimeout == 0 ? nil : .milliseconds(statementTimeout) + .seconds(3)
        }
        /// Calls that may wait for a lane; one more is refused with `.saturated`.
        package var maximumWaiting = 512
        /// When the line would take longer than this to reach an arriving call, the call is refused with `.saturated`.
        package var longestLine: Duration = .seconds(1)
        /// How long a call waits before it is refused with `.saturated`.
        package var waitFor: Duration = .seconds(5)
        /// Prepared statements that a connection keeps.
        package var statements = 256

        package init(conninfo: String) {
            self.conninfo = conninfo
        }
    }

    package struct Figures: Sendable, Equatable {
        package let lanes: Int
        package let connected: Int
        package let leased: Int
        package let waiting: Int
        /// Calls refused with `.saturated`, ever.
        package let turnedAway: Int
        /// Seconds that calls have stood in line, and how many calls lanes took, ever.
        package let waitedFor: Double
        package let served: Int
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
