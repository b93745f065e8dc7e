import Glibc
import Lanes
import Synchronization

/// An HTTP/1.1 server: start it once, drain it once.
public final class Server: Sendable {
    private struct Parts: Sendable {
        let daemon: Daemon
        let acceptor: Acceptor
        let sweeper: Sweeper
        let address: Address
    }

    private enum State {
        case new
        case running(Parts)
        case draining([CheckedContinuation<Void, Never>])
        case stopped
    }

    private let core: Core
    private let state = Mutex(State.new)
    private let bound = Mutex<Address?>(nil)

    /// Makes a server that is not yet listening.
    ///
    /// `refuse` makes the answer to a request that is not passed on, given the request id. `observe` is called once
    /// for each request when it is over. `requestID` chooses a request's id from its headers. `decorate` adds what
    /// every answer carries, refusals included. All four run on the server's threads and must not block.
    public init(
        settings: Settings, router: Router,
        refuse: @escaping @Sendable (Refusal, String) -> Response,
        observe: @escaping @Sendable (Exchange) -> Void = { _ in },
        requestID: @escaping @Sendable (Headers) -> String,
        decorate: @escaping @Sendable (inout Response, RequestHead) -> Void = { _, _ in }
    ) {
        core = Core(
            settings: settings, router: router, refuse: refuse, observe: observe, requestID: requestID,
            decorate: decorate)
    }

    /// The port it listens on; 0 before `start`.
    public var port: Int { address?.port ?? 0 }

    /// Where it listens; nil before `start`.
    public var address: Address? { bound.withLock { $0 } }

    public var isDraining: Bool { core.gate.isDraining }

    public var figures: Figures {
        var figures = core.connections.figures
        figures.requestsInFlight = core.gate.requestsInFlight
        figures.requestsTotal = core.gate.requestsTotal
        figures.refusedTotal = core.gate.refusedTotal
        figures.bodyBytes = core.bodies.bytes
        figures.bodiesRefusedTotal = core.bodies.refusedTotal
        figures.streams = core.engine.openStreams
        figures.streamsTotal = core.engine.streamsTotal
        return figures
    }

    /// Listens; connections are served when this returns.
    public func start() throws(ServerFault) {
        try state.withLock { (state) throws(ServerFault) in
            guard case .new = state else { throw .alreadyStarted }
            let parts = try assemble()
            bound.withLock { $0 = parts.address }
            state = .running(parts)
        }
    }

    private func assemble() throws(ServerFault) -> Parts {
        let settings = core.settings
        let listener = try Listener(settings)
        let sweeper = Sweeper(
            connections: core.connections, lingerer: core.lingerer,
            shortest: min(
                min(settings.headerTimeout, min(settings.bodyTimeout, settings.bodyWindow)),
                min(settings.idleTimeout, settings.answerTimeout)))
        do throws(ServerFault) {
            try core.engine.start()
            try sweeper.start()
            let daemon = try Daemon(core: core, settings: settings)
            let acceptor = Acceptor(
                listener: listener, connections: core.connections, daemon: daemon, settings: settings)
            do throws(ServerFault) {
                try acceptor.start()
            } catch {
                daemon.stop(core: core)
                throw error
            }
            return Parts(daemon: daemon, acceptor: acceptor, sweeper: sweeper, address: listener.address)
        } catch {
            sweeper.stop()
            core.engine.stop()
            close(listener.socket)
            throw error
        }
    }

    /// Stops without cutting anybody off who is done within `grace`; returns when everything has stopped.
    ///
    /// Accepting stops at once and streams end with their farewell. What kept connections still ask is answered and
    /// ends them; a proxy's quiet ones are kept a little, so that it can end them itself. Requests in flight are
    /// refused after the grace.
    /// Calls after the first wait for the same end.
    public func drain(grace: Duration) async {
        await withCheckedContinuation { continuation in
            let parts = state.withLock { state -> Parts? in
                switch state {
                case .running(let parts):
                    state = .draining([continuation])
                    return parts
                case .draining(let waiting):
                    state = .draining(waiting + [continuation])
                case .new, .stopped:
                    state = .stopped
                    continuation.resume()
                }
                return nil
            }
            guard let parts else { return }
            stopInBackground(parts, grace)
        }
    }

    /// Stopping joins threads, which must not happen on the cooperative pool.
    private func stopInBackground(_ parts: Parts, _ grace: Duration) {
        let work: @Sendable () -> Void = {
            self.stop(parts, until: Monotonic.now() + Monotonic.nanoseconds(grace))
            let waiting = self.state.withLock { state in
                defer { state = .stopped }
                guard case .draining(let waiting) = state else { return [] as [CheckedContinuation<Void, Never>] }
                return waiting
            }
            for continuation in waiting { continuation.resume() }
        }
        guard let thread = Thread(named: "http-drain", work) else { return work() }
        thread.detach()
    }

    private func stop(_ parts: Parts, until deadline: Int64) {
        let gate = core.gate
        let began = Monotonic.now()
        gate.startDraining()
        var backlog = parts.acceptor.stop { core.refusalOfBacklog() }
        core.engine.endAll()
        // What has arrived but was not read yet is in flight too.
        wait(until: deadline) { gate.requestsInFlight == 0 && !core.connections.all.contains { $0.hasUnread } }
        // A proxy that asks in the very moment in which its connection is closed cannot know whether it was heard.
        wait(until: min(deadline, began + core.timeouts.proxyIdle)) { !core.connections.all.contains(where: \.isProxy) }
        wait(until: deadline) { gate.requestsInFlight == 0 }
        gate.close()
        core.engine.cutAll()
        for connection in core.connections.all { connection.call?.giveUp() }
        // The library aborts the process when it is stopped over a suspended connection; all were resumed above.
        wait(until: .max) { gate.suspended == 0 }
        wait(until: Monotonic.now() + 1_000_000_000) { gate.requestsInFlight == 0 }
        parts.daemon.stop(core: core)
        core.engine.stop()
        parts.sweeper.stop()
        for connection in core.connections.all { core.connections.remove(connection) }
        backlog.linger(until: Monotonic.now() + 1_000_000_000)
    }

    private func wait(until deadline: Int64, for isDone: () -> Bool) {
        while !isDone() {
            let left = deadline - Monotonic.now()
            guard left > 0 else { return }
            core.gate.changed.wait(milliseconds: Int32(min(left / 1_000_000 + 1, 50)))
        }
    }
}
