/// One thread that runs blocking jobs in the order in which they were given.
public final class Lane: Sendable {
    private let crew: Crew

    public init(name: String) {
        crew = Crew(name: name, count: 1, maximumWaiting: .max)
    }

    deinit { crew.close(waits: false) }

    /// Runs the body on the lane and returns its outcome; after `stop` the caller's own thread runs it.
    public func run<R: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
        let outcome = await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<R, E>, Never>) in
            post { continuation.resume(returning: Result(running: body)) }
        }
        return try outcome.get()
    }

    /// Runs the job on the lane some time later; after `stop` the caller's own thread runs it.
    public func post(_ job: @escaping @Sendable () -> Void) {
        if case .accepted = crew.add(job) { return }
        job()
    }

    /// Finishes what was posted and ends the thread; blocks meanwhile.
    public func stop() {
        crew.close(waits: true)
    }
}

extension Result {
    init(running body: () throws(Failure) -> Success) {
        do {
            self = .success(try body())
        } catch {
            self = .failure(error)
        }
    }
}
