internal import CPostgreSQL
internal import Lanes
internal import Synchronization

/// A connection that listens on one channel, on a thread of its own, and connects again by itself.
///
/// Notifications sent while it was not connected are lost; `onReconnect` is the place to look for what they announced.
public final class Listener: Sendable {
    private struct Life {
        var thread: Thread?
        var isStopping = false
        var isListening = false
    }

    private let channel: String
    private let opening: Opening
    private let onNotify: @Sendable (String) -> Void
    private let onReconnect: @Sendable () -> Void
    private let life = Mutex(Life())
    private let wakeUp = WakeUp()

    /// Both closures run on the listener's thread and must not block; `onReconnect` also runs for the first connection.
    public init(
        conninfo: String, channel: String, applicationName: String = "enfilade-listener",
        onNotify: @escaping @Sendable (_ payload: String) -> Void, onReconnect: @escaping @Sendable () -> Void
    ) {
        self.channel = channel
        self.onNotify = onNotify
        self.onReconnect = onReconnect
        opening = Opening(conninfo, applicationName: applicationName, settings: [])
    }

    public var isListening: Bool { life.withLock { $0.isListening } }

    public func start() {
        life.withLock { life in
            guard life.thread == nil, !life.isStopping else { return }
            life.thread = Thread(named: "pg-listen") { [self] in live() }
        }
    }

    /// Ends the connection and the thread; blocks until that is done, at most for a connect timeout.
    public func stop() {
        let thread = life.withLock { life in
            life.isStopping = true
            defer { life.thread = nil }
            return life.thread
        }
        wakeUp.call()
        thread?.join()
    }

    private var isStopping: Bool { life.withLock { $0.isStopping } }

    private func live() {
        var backoff = Backoff()
        while !isStopping {
            if let handle = connect() {
                backoff.reset()
                life.withLock { $0.isListening = true }
                onReconnect()
                listen(on: handle)
                life.withLock { $0.isListening = false }
            }
            guard !isStopping else { return }
            _ = wakeUp.wait(for: backoff.pause())
        }
    }

    private func connect() -> Handle? {
        guard let handle = try? opening.open() else { return nil }
        guard let name = PQescapeIdentifier(handle.pointer, channel, channel.utf8.count) else { return nil }
        defer { PQfreemem(name) }
        let answer = PQexec(handle.pointer, "LISTEN \(String(cString: name))").map(Answer.init)
        guard let answer, PQresultStatus(answer.result) == PGRES_COMMAND_OK else { return nil }
        return handle
    }

    private func listen(on handle: Handle) {
        while !isStopping {
            while let notification = PQnotifies(handle.pointer) {
                let payload = String(cString: notification.pointee.extra)
                PQfreemem(notification)
                onNotify(payload)
            }
            _ = wakeUp.wait(socket: PQsocket(handle.pointer))
            guard PQconsumeInput(handle.pointer) == 1, PQstatus(handle.pointer) == CONNECTION_OK else { return }
        }
    }
}
