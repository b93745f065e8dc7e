/// One finished request, for logs and metrics.
package struct Exchange: Sendable {
    package enum End: Sendable, Equatable {
        case completed
        /// The connection broke, or the server gave up on it.
        case aborted
        /// The client was too slow and was cut off.
        case timeout
    }

    /// The method's name, or `OTHER`; safe as a label.
    package let method: String
    /// The matched pattern; nil for requests refused before routing.
    package let routePattern: String?
    /// 0 when no answer was begun.
    package let status: Int
    /// Nanoseconds from the request line to the last byte handed to the system.
    package let duration: Int64
    package let requestBytes: Int
    package let responseBytes: Int
    package let requestID: String
    /// Whose connection it was.
    package let peer: Address
    /// Who asked, as far as that is known: behind a proxy not the peer.
    package let client: Address?
    package let end: End
}

/// Counts of a running server.
package struct Figures: Sendable, Equatable {
    package var openConnections = 0
    package var acceptedTotal = 0
    /// Connections closed at once because their address had too many.
    package var turnedAwayTotal = 0
    /// Connections cut because a head took too long.
    package var slowHeadsTotal = 0
    /// Connections cut because a body came too slowly or took too long.
    package var slowBodiesTotal = 0
    /// Connections cut because reading an answer took too long.
    package var slowReadersTotal = 0
    /// Kept connections that were closed because nothing more was asked.
    package var idleTotal = 0
    /// Bytes of bodies that wait for the rest of them or for their answer.
    package var bodyBytes = 0
    /// Requests refused because there were too many such bytes.
    package var bodiesRefusedTotal = 0
    package var requestsInFlight = 0
    package var requestsTotal = 0
    package var refusedTotal = 0
    package var streams = 0
    package var streamsTotal = 0

    /// Connections cut for slowness.
    package var timedOutTotal: Int { slowHeadsTotal + slowBodiesTotal + slowReadersTotal }
}
