import API

/// Decides what a stream does next; it waits for nothing and sends nothing.
///
/// Each source is a lane of its own: dirty when there may be more, clean when the source said there is none. A stream
/// replays until all lanes are clean, says `ready` once, and then goes on in the same way for ever: live delivery is a
/// replay of one. A position advances only with an update that the stream took, so nothing is lost or sent twice.
struct StreamState {
    enum Action: Equatable {
        /// Hand this update of a lane to the stream, then say `delivered`, `refused` or `ended`.
        case deliver(lane: Int)
        /// Ask the lane's source for what follows its position, then say `found`.
        case pull(lane: Int)
        /// More is to be pulled, but what was sent before has not gone yet: say `refused`, then `becameWritable`.
        case waitForRoom
        case announceReady
        case announceDevices(version: Int64)
        case wait
    }

    struct Lane {
        fileprivate(set) var position: Position
        fileprivate(set) var isDirty = true
        /// What made it dirty happened elsewhere, or nobody knows where: memory cannot say that there is no more.
        fileprivate(set) var isBeyondMemory = true
        fileprivate var backlog: ArraySlice<Update> = []
    }

    private(set) var lanes: [Lane]
    /// Of the question that `pull` asked: memory may answer with updates, but not with "no more".
    private(set) var mustReadTable = false
    private var isPulling = false
    private var isFull = false
    private var isReady = false
    private var isOver = false
    private var deviceVersion: Int64?

    init(starts: [Position]) { lanes = starts.map { Lane(position: $0) } }

    /// The update that `deliver` means.
    func update(of lane: Int) -> Update? { lanes[lane].backlog.first }

    /// What to do now; after `wait`, nothing until one of the functions below is called.
    mutating func next(hasRoom: @autoclosure () -> Bool) -> Action {
        guard !isOver, !isFull, !isPulling else { return .wait }
        for lane in lanes.indices where !lanes[lane].backlog.isEmpty { return .deliver(lane: lane) }
        for lane in lanes.indices where lanes[lane].isDirty {
            guard hasRoom() else { return .waitForRoom }
            // Cleaned before asking: a bell that rings meanwhile makes it dirty again.
            lanes[lane].isDirty = false
            mustReadTable = lanes[lane].isBeyondMemory
            lanes[lane].isBeyondMemory = false
            isPulling = true
            return .pull(lane: lane)
        }
        if !isReady { return .announceReady }
        if let deviceVersion { return .announceDevices(version: deviceVersion) }
        return .wait
    }

    mutating func mark(_ lane: Int, isBeyondMemory: Bool = true) {
        lanes[lane].isDirty = true
        if isBeyondMemory { lanes[lane].isBeyondMemory = true }
    }

    mutating func markDevices(version: Int64) { deviceVersion = max(version, deviceVersion ?? 0) }

    /// The source's answer to `pull`: nothing means that the lane is clean unless a bell rang meanwhile.
    mutating func found(_ updates: [Update], in lane: Int, fromMemory: Bool = false) {
        isPulling = false
        guard !updates.isEmpty else { return }
        lanes[lane].backlog = updates[...]
        // A page may be followed by another; what memory gave is all it had.
        if !fromMemory || mustReadTable { mark(lane) }
    }

    /// The source could not answer; the next bell or look asks again.
    mutating func failed() { isPulling = false }

    mutating func delivered(in lane: Int) {
        guard let update = lanes[lane].backlog.popFirst() else { return }
        lanes[lane].position = update.position
    }

    mutating func announcedReady() { isReady = true }

    mutating func announcedDevices() { deviceVersion = nil }

    /// The stream takes no more until it says that it can.
    mutating func refused() { isFull = true }

    mutating func becameWritable() { isFull = false }

    mutating func end() { isOver = true }

    var isEnded: Bool { isOver }

    /// Whether a look at the tables could tell it something new.
    var isIdle: Bool { !isOver && !isFull && !isPulling }
}
