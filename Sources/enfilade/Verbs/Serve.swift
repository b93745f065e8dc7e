import Application
import Domain

enum Serve: Verb {
    static let name = "serve"
    static let summary = "run the server until SIGTERM or SIGINT"
    static let help = """
        usage: enfilade serve [--settings FILE]

        Needs ENFILADE_DATABASE_URL and ENFILADE_ROOT_KEY_FILE, and a migrated database (enfilade migrate).
        Logs one JSON object per line to standard error. GET /readyz answers 200 once it serves.
        Under systemd it says when it is ready, answers the watchdog, and takes over the socket of a socket unit.
        SIGTERM: stops accepting, finishes requests in flight, says goodbye to streams, exits with 0.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow("settings")
        let supervisor = try Supervisor(environment: Environment.variables)
        var settings = try arguments.settings()
        try settings.checkForServing()
        settings.inheritedSocket = supervisor.socket
        let signals = Signals()
        let log = Log(clock: SystemClock())
        let application = try await Application.start(
            settings, clock: SystemClock(), observe: { log.note($0) }, isCancelled: { signals.hasArrived })
        guard let application else { return 0 }
        supervisor.ready()
        let reassurance = Task { await supervisor.reassure() }
        await signals.wait()
        supervisor.stopping()
        await application.stop()
        reassurance.cancel()
        return 0
    }
}
