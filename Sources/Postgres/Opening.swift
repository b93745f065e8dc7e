internal import CPostgreSQL

/// How a new connection is set up before anything runs on it.
struct Opening: Sendable {
    private let string: ConnectionString?
    private let settings: [(name: String, value: String)]

    init(_ conninfo: String, applicationName: String, settings: [(name: String, value: String)]) {
        var string = ConnectionString(conninfo)
        string?.addDefaults(applicationName: applicationName)
        self.string = string
        self.settings = settings
    }

    /// Connects, blocking; throws `.unavailable` with libpq's reason, and the lifeline is then not armed.
    func open(_ lifeline: Lifeline? = nil) throws(PostgresError) -> Handle {
        guard let string else { throw .unavailable(reason: "the connection string cannot be read") }
        guard let pointer = string.connect() else { throw .unavailable(reason: "out of memory") }
        let handle = Handle(pointer)
        guard PQstatus(pointer) == CONNECTION_OK else { throw .unavailable(reason: handle.message) }
        PQsetNoticeReceiver(pointer, ignoreNotice, nil)
        lifeline?.arm(handle)
        lifeline?.beginWaiting()
        defer { lifeline?.endWaiting() }
        do throws(PostgresError) {
            try handle.set(settings)
        } catch {
            lifeline?.disarm()
            throw error
        }
        return handle
    }

    func openPipeline(statements: Int, lifeline: Lifeline) throws(PostgresError) -> Pipeline {
        let handle = try open(lifeline)
        guard PQenterPipelineMode(handle.pointer) == 1 else {
            withExtendedLifetime(handle) { lifeline.disarm() }
            throw .unavailable(reason: "pipeline mode cannot be entered")
        }
        return Pipeline(handle: handle, statements: statements, lifeline: lifeline)
    }
}

/// A libpq connection, finished with its last reference.
final class Handle {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQfinish(pointer) }

    var message: String {
        guard let text = PQerrorMessage(pointer) else { return "" }
        let lines = String(cString: text).split(separator: "\n")
        return lines.joined(separator: "; ")
    }

    /// Sets session parameters in one round trip.
    fileprivate func set(_ settings: [(name: String, value: String)]) throws(PostgresError) {
        guard !settings.isEmpty else { return }
        var calls: [String] = []
        for (name, value) in settings {
            calls.append("pg_catalog.set_config(\(try literal(name)), \(try literal(value)), false)")
        }
        let answer = PQexec(pointer, "SELECT \(calls.joined(separator: ", "))").map(Answer.init)
        guard let answer, PQresultStatus(answer.result) == PGRES_TUPLES_OK else { throw .unavailable(reason: message) }
    }

    private func literal(_ text: String) throws(PostgresError) -> String {
        guard let quoted = PQescapeLiteral(pointer, text, text.utf8.count) else { throw .unavailable(reason: message) }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }
}

// Notices would go to standard error, where only our own log lines belong.
private func ignoreNotice(_: UnsafeMutableRawPointer?, _: OpaquePointer?) {}
