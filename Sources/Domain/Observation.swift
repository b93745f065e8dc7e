/// Everything the server can report about itself; the log and the metrics are two readers of this list.
///
/// Nothing here can hold a secret: there is no free text but the cause of a fault, and causes hold no data.
public enum Observation: Sendable {
    case started(address: String, version: String)
    case draining
    case stopped
    case request(RequestObservation)
    /// A request failed for a reason of ours; people saw only its id.
    case failed(requestID: String, route: String, cause: String)
    /// A request was turned away because a line was too long.
    case turnedAway(from: Queue)
    /// A rate refused somebody.
    case limited(by: String)
    /// An operator may want to change something.
    case advice(StaticString)
    /// A task that runs without a request failed; it goes on by itself.
    case faltered(task: StaticString, cause: String)
    case recovered(task: StaticString)
    case migrated(version: Int, name: String)
    case committed(messages: Int, items: Int, seconds: Double)
    case swept(items: Int, messages: Int)
    case sequenced(entries: Int)
    case signedIn(outcome: Deed.Outcome)
    /// A refresh token was exchanged once more while its answer may have been lost.
    case refreshRepeated
    case streamOpened
    case streamClosed(reason: StaticString)
    case eventsSent(Int)
}

public struct RequestObservation: Sendable {
    public let method: String
    /// The pattern that matched, never the URL: patterns are few and hold nobody's data.
    public let route: String
    public let status: Int
    public let seconds: Double
    public let requestID: String
    /// Whose connection it was.
    public let peer: String
    /// Who asked: the peer, or whom a trusted proxy names; nil when nothing trustworthy is known.
    public let client: String?
    public let bytesIn: Int
    public let bytesOut: Int
    public let ending: StaticString

    public init(
        method: String, route: String, status: Int, seconds: Double, requestID: String, peer: String,
        client: String?, bytesIn: Int, bytesOut: Int, ending: StaticString
    ) {
        self.method = method
        self.route = route
        self.status = status
        self.seconds = seconds
        self.requestID = requestID
        self.peer = peer
        self.client = client
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.ending = ending
    }
}

public typealias Observe = @Sendable (Observation) -> Void
