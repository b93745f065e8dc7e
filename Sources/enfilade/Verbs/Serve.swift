import Application
import Domain

enum Serve: Verb {
    static let name = "serve"
    static let summary = "run the server until SIGTERM or SIGINT"
    static let help = """
        usage: enfilade serve

        Needs ENFILADE_DATABASE_URL and ENFILADE_ROOT_KEY_FILE, and a migrated database (enfilade migrate).
        Logs one JSON object per line to standard error. GET /readyz answers 200 once it serves.
        SIGTERM: stops accepting, finishes requests in flight, says goodbye to streams, exits with 0.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow()
        let settings = try Settings(environment: Environment.variables)
        try settings.checkForServing()
        let signals = Signals()
        let log = Log(clock: SystemClock())
        let application = try await Application.start(
            settings, clock: SystemClock(), observe: { log.note($0) }, isCancelled: { signals.hasArrived })
        guard let application else { return 0 }
        await signals.wait()
        await application.stop()
        return 0
    }
}
