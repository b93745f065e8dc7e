/// Why an operation was refused.
///
/// Every edge of the program answers each case.
public enum Failure: Error, Sendable {
    /// The request says something that cannot be; each fault names its field.
    case invalid([FieldFault])
    case unauthenticated(Unauthenticated)
    case forbidden(StaticString)
    /// The token carries none of these scopes, any one of which would do.
    case lacksScope(Scopes)
    /// It does not exist, or not for this caller: the two are never told apart.
    case missing(StaticString)
    /// Things that the body names do not exist; each fault points to one.
    case missingParts([FieldFault])
    case conflict(Conflict)
    /// `If-Match` names another version than the current one.
    case outdated
    /// `If-Match` is needed here.
    case unconditional
    case idempotencyKeyReused
    case tooLarge(StaticString)
    /// Too often, by a rate when it was one.
    case limited(retryAfter: Int, StaticString, by: RateStanding? = nil)
    /// A line is as long as it may get, and nothing was begun: try again in a moment.
    case busy(Queue)
    /// Try again later. The cause is for operators.
    case unavailable(cause: String)
    /// Our fault. The cause is for operators and never shown.
    case broken(cause: String)

    /// What the log says of a task that failed by this; what a client sent is never in it.
    public var cause: String {
        switch self {
        case .unavailable(let cause), .broken(let cause): cause
        case .busy(let queue): "the line for \(queue.rawValue) is full"
        default: "refused"
        }
    }

    public static func invalid(_ pointer: String, _ detail: String) -> Failure {
        .invalid([FieldFault(pointer: pointer, detail: detail)])
    }
}

/// The lines in which requests wait; each is bounded, in number and in time.
public enum Queue: String, CaseIterable, Sendable {
    /// For a connection to PostgreSQL.
    case database
    /// For the next commit of messages.
    case sends
    /// For a thread that hashes passwords.
    case passwords
}

/// One wrong field: a JSON pointer (RFC 6901) into the body, or `?name` for a parameter.
public struct FieldFault: Hashable, Sendable {
    public let pointer: String
    public let detail: String

    public init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

public enum Unauthenticated: Sendable {
    case noToken, badToken, sessionEnded
}

/// What already is, and stands in the way.
public enum Conflict: Sendable {
    case usernameTaken
    case appTaken
    case appInUse(StaticString)
    case deviceKeyTaken
    /// The sets that the sender should have addressed.
    case deviceSet([DeviceSetMismatch])
    /// The same id with other content; the answer that was given to the first.
    case messageIDUsed(SentMessage)
    /// Anything else, said in words.
    case state(StaticString)
}
