/// One finished request, for logs and metrics.
public struct Exchange: Sendable {
    public enum End: Sendable, Equatable {
        case completed
        /// The connection broke, or the server gave up on it.
        case aborted
        /// The client was too slow and was cut off.
        case timeout
    }

    /// The method's name, or `OTHER`; safe as a label.
    public let method: String
    /// The matched pattern; nil for requests refused before routing.
    public let routePattern: String?
    /// 0 when no answer was begun.
    public let status: Int
    /// Nanoseconds from the request line to the last byte handed to the system.
    public let duration: Int64
    public let requestBytes: Int
    public let responseBytes: Int
    public let requestID: String
    /// Whose connection it was.
    public let peer: Address
    /// Who asked, as far as that is known: behind a proxy not the peer.
    public let client: Address?
    public let end: End
}

/// Counts of a running server.
public struct Figures: Sendable, Equatable {
    public var openConnections = 0
    public var acceptedTotal = 0
    /// Connections closed at once because their address had too many.
    public var turnedAwayTotal = 0
    /// Connections cut because a head took too long.
    public var slowHeadsTotal = 0
    /// Connections cut because a body came too slowly or took too long.
    public var slowBodiesTotal = 0
    /// Connections cut because reading an answer took too long.
    public var slowReadersTotal = 0
    /// Kept connections that were closed because nothing more was asked.
    public var idleTotal = 0
    /// Bytes of bodies that wait for the rest of them or for their answer.
    public var bodyBytes = 0
    /// Requests refused because there were too many such bytes.
    public var bodiesRefusedTotal = 0
    public var requestsInFlight = 0
    public var requestsTotal = 0
    public var refusedTotal = 0
    public var streams = 0
    public var streamsTotal = 0

    /// Connections cut for slowness.
    public var timedOutTotal: Int { slowHeadsTotal + slowBodiesTotal + slowReadersTotal }
}
