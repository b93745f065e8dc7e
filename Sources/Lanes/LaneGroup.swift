/// Several threads that share one bounded line of blocking jobs.
public final class LaneGroup: Sendable {
    /// The line is as long as it may get, or the group has stopped: try again later.
    public struct Full: Error, Sendable {}

    private let crew: Crew

    /// Starts the threads.
    ///
    /// `waiting` is how many jobs may stand in line beyond those that a thread runs; fewer when the line would take longer
    /// than `longestLine` to reach the last of them.
    public init(name: String, count: Int, waiting: Int, longestLine: Duration? = nil) {
        crew = Crew(name: name, count: count, maximumWaiting: waiting, longestLine: longestLine)
    }

    deinit { crew.close(waits: false) }

    /// Runs the body on one of the threads.
    ///
    /// Throws `Full` without having run it; the body's own outcome comes back as a `Result`. With a `share` below 1 the
    /// rest of the line is kept for others.
    public func run<R: Sendable, E: Error>(
        share: Double = 1, _ body: @escaping @Sendable () throws(E) -> R
    ) async throws(Full) -> Result<R, E> {
        let outcome = await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<R, E>?, Never>) in
            let acceptance = crew.add({ continuation.resume(returning: Result(running: body)) }, share: share)
            guard case .accepted = acceptance else { return continuation.resume(returning: nil) }
        }
        guard let outcome else { throw Full() }
        return outcome
    }

    /// Whether a job would be taken just now.
    public func hasRoom(share: Double = 1) -> Bool { crew.hasRoom(share: share) }

    /// Jobs that stand in line now.
    public var waiting: Int { crew.waiting }
    /// Seconds that jobs have stood in line, ever.
    public var waitedFor: Double { crew.waitedFor }

    /// Finishes what was accepted and ends the threads; blocks meanwhile.
    public func stop() {
        crew.close(waits: true)
    }
}
