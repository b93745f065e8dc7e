extension Server {
    public struct Settings: Sendable {
        /// An address literal; loopback unless told otherwise.
        public var address = "127.0.0.1"
        /// 0 lets the system choose.
        public var port = 0
        /// Lets a second process listen on the same port, for restarts without a gap.
        public var sharesPort = false
        public var workers = 16
        /// Above it, connections wait in the backlog.
        public var connectionLimit = 4096
        /// Above it, further connections of one address are closed at once; nil for no limit.
        public var connectionsPerAddress: Int?
        /// Whether `connectionsPerAddress` is for peers on this machine too.
        public var countsLoopback = true
        /// Peers that forward for others: `connectionsPerAddress` does not count them.
        public var isProxy: @Sendable (Address) -> Bool = { _ in false }
        /// Who sent a request that a proxy forwarded; nil when that is not known.
        public var client: @Sendable (RequestHead) -> Address? = { $0.peer }
        /// Bytes for one request's head and one answer's head.
        public var connectionMemory = 16 * 1024
        public var headerBytes = 8 * 1024
        public var headerCount = 100
        public var targetBytes = 4 * 1024
        /// How long a kept-alive connection may be quiet.
        public var idleTimeout = Duration.seconds(60)
        /// How long a head may take in all.
        public var headerTimeout = Duration.seconds(10)
        /// How long a body may take in all.
        public var bodyTimeout = Duration.seconds(60)
        /// Within each such time a body must grow by `bodyBytesPerWindow` or end.
        public var bodyWindow = Duration.seconds(10)
        public var bodyBytesPerWindow = 10 * 1024
        /// Bytes of bodies that all connections together may hold; over it requests with a body are refused.
        public var bodiesInFlight = 256 * 1024 * 1024
        /// How long reading an answer may take in all; streams are not counted.
        public var answerTimeout = Duration.seconds(60)
        /// Bytes of an answer that the system keeps for a client that does not read; it takes megabytes when not told.
        public var sendBuffer = 256 * 1024
        /// How long a server that stops keeps the quiet connections of proxies; theirs should end sooner.
        public var proxyIdleTimeout = Duration.seconds(3)
        /// A socket that already listens, made by whoever started the process; address and port are then its own.
        public var inheritedSocket: Int32?
        public var streams = StreamEngine.Settings()

        public init() {}
    }
}

/// Why a server did not start.
public enum ServerFault: Error, Sendable, Equatable, CustomStringConvertible {
    case addressMalformed(String)
    case addressNotAvailable(String)
    case portInUse(Int)
    case permissionDenied(Int)
    case alreadyStarted
    /// The descriptor that was handed over is no socket that listens for connections.
    case notListening(Int32)
    /// The C library or the system refused; the number is `errno`.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .addressMalformed(let text): "\(text) is no IPv4 or IPv6 address"
        case .addressNotAvailable(let text): "this machine has no address \(text)"
        case .portInUse(let port): "port \(port) is in use"
        case .permissionDenied(let port): "listening on port \(port) is not permitted"
        case .alreadyStarted: "the server was already started"
        case .notListening(let descriptor): "descriptor \(descriptor) is no TCP socket that listens"
        case .system(let call, let code): "\(call) failed with error \(code)"
        }
    }
}
