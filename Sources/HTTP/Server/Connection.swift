import Glibc
import Synchronization

/// One accepted connection, from `accept` until the library is about to close it.
final class Connection: Sendable {
    /// What a client is waited for.
    enum Stage: Int, Sendable, CaseIterable {
        case head, body, answer, idle
    }

    private struct State {
        var isOpen = true
        var call: Call?
    }

    let socket: Int32
    let peer: Address
    /// Whether the peer forwards for others.
    let isProxy: Bool
    /// A stream's: it was taken over from the library, and what its client still sends is nothing to wait for.
    let isStream: Bool
    private let state = Mutex(State())
    private let deadline: Atomic<Int64>
    private let awaited = Atomic<Int>(Stage.head.rawValue)
    private let cut = Atomic<Bool>(false)
    private let unread = Atomic<Bool>(false)

    init(socket: Int32, peer: Address, isProxy: Bool, isStream: Bool = false, deadline: Int64) {
        self.socket = socket
        self.peer = peer
        self.isProxy = isProxy
        self.isStream = isStream
        self.deadline = Atomic(deadline)
    }

    /// Another descriptor of the same connection; nil when the process has none left.
    func duplicate() -> Int32? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            return copy < 0 ? nil : copy
        }
    }

    /// The request being served, if any.
    var call: Call? {
        get { state.withLock { $0.call } }
        set { state.withLock { $0.call = newValue } }
    }

    /// Whether something has arrived that belongs to no request yet.
    var hasUnread: Bool {
        state.withLock { state in
            guard state.isOpen, !isStream, state.call == nil else { return false }
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
        }
    }

    /// Whether an answer was given to a request whose body was not read: more may come than will ever be.
    var leavesBody: Bool {
        get { unread.load(ordering: .relaxed) }
        set { unread.store(newValue, ordering: .relaxed) }
    }

    var wasCut: Bool { cut.load(ordering: .relaxed) }

    /// What the client is waited for, or was last.
    var stage: Stage { Stage(rawValue: awaited.load(ordering: .relaxed)) ?? .head }

    /// Sets when the client must have made the next step.
    func expect(_ stage: Stage, by instant: Int64) {
        awaited.store(stage.rawValue, ordering: .relaxed)
        deadline.store(instant, ordering: .relaxed)
    }

    /// It is our turn.
    func expectNothing() {
        deadline.store(.max, ordering: .relaxed)
    }

    func isLate(_ now: Int64) -> Bool {
        now > deadline.load(ordering: .relaxed)
    }

    /// Ends both directions; the library sees it and closes.
    ///
    /// Under the lock, because the descriptor's number may belong to somebody else once it is closed.
    func cutOff() {
        state.withLock { state in
            guard state.isOpen else { return }
            expectNothing()
            cut.store(true, ordering: .relaxed)
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    func markClosed() {
        state.withLock { state in
            state.isOpen = false
            state.call = nil
        }
    }
}
