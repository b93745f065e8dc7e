/// Answers the requests of one route.
///
/// Both calls run on a thread of the server and must not block.
public protocol Handler: Sendable {
    /// Called when the head is known and before the body is read.
    func admit(_ head: RequestHead) -> Admission

    /// Called when the request is complete.
    func handle(_ request: Request) -> Outcome
}

extension Handler {
    public func admit(_ head: RequestHead) -> Admission { .admitted(self) }
}

/// Whether a request is read to its end.
public enum Admission: Sendable {
    case refused(Response)
    /// What handles the complete request: perhaps another, which remembers what was found out about this one.
    case admitted(any Handler)
}

/// How a handler answers.
public enum Outcome: Sendable {
    /// Sent at once, on the thread that read the request.
    case now(Response)
    /// The connection waits for the closure, which runs on a task.
    case later(@Sendable () async -> Response)
}
