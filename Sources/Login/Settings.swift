public import Domain

extension Login {
    /// The lives and limits of signing in.
    public struct Settings: Sendable {
        /// At most ten minutes: for that long, and a little longer, every node keeps ended sessions in memory.
        public var accessTokenLife = Duration.seconds(600)
        /// A session that is refreshed lives on; one that is not ends after this.
        public var sessionLife = Duration.seconds(90 * 86_400)
        /// However often it is refreshed, a session ends after this, so that no stolen chain of tokens lasts for ever.
        public var sessionLimit = Duration.seconds(365 * 86_400)
        public var codeLife = Duration.seconds(60)
        /// How long the sign-in page may stay open.
        public var signInLife = Duration.seconds(600)
        /// How long the answer to a refresh can be asked for again with the token that was exchanged.
        ///
        /// Much shorter than an access token lives: owner and thief come back once in such a life, so that in a window
        /// as long as that neither would ever be noticed.
        public var lostAnswerWindow = Duration.seconds(60)
        /// How long a signing key signs.
        public var keyRotation = Duration.seconds(30 * 86_400)
        /// The fifth failure of a name within a quarter of an hour is the first that costs time.
        public var byName = ThrottleRule(free: 4)
        /// More patient than `byName`: many people can share an address.
        public var byAddress = ThrottleRule(free: 19)

        /// Sign-ins that succeed: each is in the audit log for ever.
        public var signIns = Rate("sign-ins", per: .account, burst: 60, every: .seconds(10))
        /// Requests without a token from one address, which many people can share.
        public var byPlace = Rate("anonymous", per: .address, burst: 3_000, every: .milliseconds(10))

        public init() {}
    }
}
