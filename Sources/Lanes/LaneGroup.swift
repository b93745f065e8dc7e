/// Several threads that share one bounded line of blocking jobs.
package final class LaneGroup: Sendable {
    /// The line is as long as it may get, or the group has stopped: try again later.
    package struct Full: Error, Sendable {}

    private let crew: Crew

    /// Starts the threads.
    ///
    /// `waiting` is how many jobs may stand in line beyond those that a thread runs.
    package init(name: String, count: Int, waiting: Int) {
        crew = Crew(name: name, count: count, maximumWaiting: waiting)
    }

    deinit { crew.close(waits: false) }

    /// Runs the body on one of the threads.
    ///
    /// Throws `Full` without having run it; the body's own outcome comes back as a `Result`.
    package func run<R: Sendable, E: Error>(
        _ body: @escaping @Sendable () throws(E) -> R
    ) async throws(Full) -> Result<R, E> {
        let outcome = await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<R, E>?, Never>) in
            let acceptance = crew.add { continuation.resume(returning: Result(running: body)) }
            guard case .accepted = acceptance else { return continuation.resume(returning: nil) }
        }
        guard let outcome else { throw Full() }
        return outcome
    }

    /// Jobs that stand in line now.
    package var waiting: Int { crew.waiting }

    /// Finishes what was accepted and ends the threads; blocks meanwhile.
    package func stop() {
        crew.close(waits: true)
    }
}
