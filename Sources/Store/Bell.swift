public import Domain
import Postgres
import Synchronization
public import Wire

/// Tells this node's streams, then other nodes, that something changed.
///
/// Rung only after a commit. Local listeners hear at once; other nodes through batched `NOTIFY`s on a connection of its
/// own, because a `NOTIFY` inside a request's transaction would make all commits queue (3–13× slower at 32 clients).
/// A small room of its own behind `ring` and `listen`, so that another carrier can take its place.
public final class Bell: Service {
    /// Where a bell was rung: what happened on this node is in its memory, what happened elsewhere only in the tables.
    public enum Origin: Sendable {
        case here, elsewhere
    }

    public typealias Listen = @Sendable (Doorbell, Origin) -> Void

    private struct State {
        var listeners: [Listen] = []
        var outgoing: Set<Doorbell> = []
        /// The sender, when there is nothing to send.
        var idle: CheckedContinuation<Void, Never>?
        var isStopped = false
    }

    static let channel = "enfilade"
    /// At most 50 notifications a second, each under PostgreSQL's 8,000 bytes.
    private static let pause = Duration.milliseconds(20)
    private static let payloadLimit = 7_000
    /// Beyond this many waiting bells new ones are dropped: other nodes poll anyway.
    private static let outgoingLimit = 20_000

    private let node: String
    private let pool: Pool
    private let conninfo: String
    private let observe: Observe
    private let state = Mutex(State())

    public init(conninfo: String, node: UUID, observe: @escaping Observe) {
        self.node = node.description
        self.conninfo = conninfo
        self.observe = observe
        var settings = Pool.Settings(conninfo: conninfo)
        settings.lanes = 1
        settings.applicationName = "enfilade bell"
        pool = Pool(settings)
    }

    /// Adds a listener; it is called on whatever thread rings, and must be quick.
    public func listen(_ listener: @escaping Listen) { state.withLock { $0.listeners.append(listener) } }

    /// Rings here and, soon, on every other node.
    public func ring(_ doorbells: [Doorbell]) {
        guard !doorbells.isEmpty else { return }
        let idle = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.outgoing.count < Self.outgoingLimit else { return nil }
            state.outgoing.formUnion(doorbells)
            defer { state.idle = nil }
            return state.idle
        }
        idle?.resume()
        ringHere(doorbells, from: .here)
    }

    /// Rings on this node only.
    public func ringHere(_ doorbells: [Doorbell], from origin: Origin) {
        let listeners = state.withLock { $0.listeners }
        for doorbell in doorbells {
            for listener in listeners { listener(doorbell, origin) }
        }
    }

    public func run() async {
        pool.start()
        let listener = Listener(
            conninfo: conninfo, channel: Self.channel, onNotify: { [weak self] in self?.hear($0) }, onReconnect: {})
        listener.start()
        var isFaltering = false
        while !Task.isCancelled {
            await somethingToSend()
            if await send() {
                if isFaltering { observe(.recovered(task: "bell")) }
                isFaltering = false
            } else if !isFaltering {
                isFaltering = true
                observe(.faltered(task: "bell", cause: "other nodes cannot be rung"))
            }
            try? await Task.sleep(for: Self.pause)
        }
        listener.stop()
        await pool.stop()
        dropListeners()
    }

    /// What listens holds the database, and the database this bell: without this a stopped server would never go away.
    private func dropListeners() {
        // Outside of the lock, where whatever goes with them may ring.
        _ = state.withLock { state in
            defer { state.listeners = [] }
            return state.listeners
        }
    }

    /// Returns when there is something to send, or the task is cancelled: a quiet node has no timer.
    private func somethingToSend() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isNow = state.withLock { state in
                    guard state.outgoing.isEmpty, !state.isStopped else { return true }
                    state.idle = continuation
                    return false
                }
                if isNow { continuation.resume() }
            }
        } onCancel: {
            let idle = state.withLock { state in
                state.isStopped = true
                defer { state.idle = nil }
                return state.idle
            }
            idle?.resume()
        }
    }

    /// Returns whether PostgreSQL took everything; what it did not take is dropped, since others poll.
    private func send() async -> Bool {
        let outgoing = state.withLock { state in
            defer { state.outgoing.removeAll(keepingCapacity: true) }
            return state.outgoing
        }
        guard !outgoing.isEmpty else { return true }
        let payloads = payloads(of: outgoing)
        let sent: Void? = try? await pool.lend { connection in
            for payload in payloads {
                _ = try? connection.execute("SELECT pg_notify(\(Self.channel), \(payload))")
            }
        }
        return sent != nil
    }

    private func payloads(of doorbells: Set<Doorbell>) -> [String] {
        var payloads: [String] = []
        var current = node
        for doorbell in doorbells {
            let line = doorbell.line
            if current.utf8.count + line.utf8.count + 1 > Self.payloadLimit {
                payloads.append(current)
                current = node
            }
            current += "\n" + line
        }
        return payloads + [current]
    }

    private func hear(_ payload: String) {
        let lines = payload.split(separator: "\n")
        guard let sender = lines.first, sender != node else { return }
        ringHere(lines.dropFirst().compactMap(Doorbell.init(line:)), from: .elsewhere)
    }
}
