import Lanes
import Synchronization

/// All open connections by descriptor, and how many each address has.
final class Connections: Sendable {
    private struct State {
        var slots: [Connection?] = []
        var perAddress: [[UInt8]: Int] = [:]
        var open = 0
        var accepted = 0
        var turnedAway = 0
        var cut: [Connection.Stage: Int] = [:]
    }

    private let state = Lock(State())
    private let limit: Int
    private let limitPerAddress: Int?
    private let countsLoopback: Bool
    private let isProxy: @Sendable (Address) -> Bool
    private let waitsForRoom = Atomic<Bool>(false)
    /// Raised when a connection closed while `waitForRoom` was on.
    let roomMade = Signal()

    init(limit: Int, limitPerAddress: Int?, countsLoopback: Bool, isProxy: @escaping @Sendable (Address) -> Bool) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.countsLoopback = countsLoopback
        self.isProxy = isProxy
    }

    var figures: Figures {
        state.withLock { state in
            var figures = Figures()
            figures.openConnections = state.open
            figures.acceptedTotal = state.accepted
            figures.turnedAwayTotal = state.turnedAway
            figures.slowHeadsTotal = state.cut[.head, default: 0]
            figures.slowBodiesTotal = state.cut[.body, default: 0]
            figures.slowReadersTotal = state.cut[.answer, default: 0]
            figures.idleTotal = state.cut[.idle, default: 0]
            return figures
        }
    }

    var all: [Connection] { state.withLock { $0.slots.compactMap(\.self) } }

    /// Whether another connection may be accepted; asks for `roomMade` otherwise.
    func hasRoom() -> Bool {
        waitsForRoom.store(true, ordering: .sequentiallyConsistent)
        guard state.withLock({ $0.open < limit }) else { return false }
        waitsForRoom.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    /// Takes a connection in; nil when its address has as many as it may.
    func add(socket: Int32, peer: Address, deadline: Int64) -> Connection? {
        let connection = Connection(socket: socket, peer: peer, isProxy: isProxy(peer), deadline: deadline)
        let isCounted = limitPerAddress != nil && !connection.isProxy && (countsLoopback || !peer.isLoopback)
        return state.withLock { state in
            releaseStale(at: socket, &state)
            if isCounted, let limitPerAddress, state.perAddress[peer.network, default: 0] >= limitPerAddress {
                state.turnedAway += 1
                return nil
            }
            keep(connection, &state)
            state.accepted += 1
            return connection
        }
    }

    /// Takes another descriptor of a connection in, which is about to lose the one that it had.
    func add(copy socket: Int32, of connection: Connection) -> Connection {
        let copy = Connection(
            socket: socket, peer: connection.peer, isProxy: connection.isProxy, isStream: true, deadline: .max)
        state.withLock { keep(copy, &$0) }
        return copy
    }

    private func keep(_ connection: Connection, _ state: inout State) {
        releaseStale(at: connection.socket, &state)
        state.perAddress[connection.peer.network, default: 0] += 1
        state.slots[Int(connection.socket)] = connection
        state.open += 1
    }

    /// The library closes a descriptor without a word when it runs out of memory; its number then comes again.
    private func releaseStale(at socket: Int32, _ state: inout State) {
        while state.slots.count <= Int(socket) { state.slots.append(nil) }
        if let stale = state.slots[Int(socket)] { release(stale, &state) }
    }

    /// The connection that was accepted with this descriptor.
    func find(socket: Int32) -> Connection? {
        state.withLock { state in
            state.slots.indices.contains(Int(socket)) ? state.slots[Int(socket)] : nil
        }
    }

    func remove(_ connection: Connection) {
        connection.markClosed()
        state.withLock { state in
            guard state.slots[Int(connection.socket)] === connection else { return }
            release(connection, &state)
        }
        if waitsForRoom.load(ordering: .sequentiallyConsistent) { roomMade.raise() }
    }

    private func release(_ connection: Connection, _ state: inout State) {
        state.slots[Int(connection.socket)] = nil
        state.open -= 1
        let left = state.perAddress[connection.peer.network, default: 1] - 1
        state.perAddress[connection.peer.network] = left > 0 ? left : nil
    }

    /// Cuts off every client that did not keep its deadline.
    func cutLate(_ now: Int64) {
        let late = state.withLock { state in
            let late = state.slots.filter { $0?.isLate(now) == true }
            for connection in late.lazy.compactMap(\.self) { state.cut[connection.stage, default: 0] += 1 }
            return late
        }
        for connection in late { connection?.cutOff() }
    }
}
