public import Domain
public import Store

/// Whose stream it is.
public struct Listener: Sendable {
    public let caller: Caller
    public let device: DeviceID

    public init(caller: Caller, device: DeviceID) {
        self.caller = caller
        self.device = device
    }
}

/// Where a stream stands in one source: opaque to everyone but the source, small, and the same on every node.
public typealias Position = [UInt8]

/// One kind of updates that a stream carries.
///
/// Features make them; the room Updates merges them. A source replays from its own table, so resuming needs no outbox and no node remembers anything for another.
public protocol UpdateSource: Sendable {
    /// One letter, unique among sources; part of every cursor.
    var letter: UInt8 { get }

    /// Whether this listener's token lets it hear of these updates.
    func serves(_ listener: Listener) -> Bool

    /// Opens the source for one stream.
    ///
    /// The position comes from the client's cursor; `nil` starts where the source thinks right. One that belongs to
    /// another owner is an `.invalid("Last-Event-ID", …)`.
    func open(_ listener: Listener, at position: Position?) async throws(Failure) -> any UpdateFeed

    /// Brings to memory what all streams that a bell concerns are about to ask for; they do without when it fails.
    func prepare(for doorbell: Doorbell) async

    /// For each of these feeds of this source, whether there is more after its position: one statement for many, since
    /// bells can be lost and every stream is asked after every few seconds.
    func haveMore(_ feeds: [(feed: any UpdateFeed, position: Position)]) async throws(Failure) -> [Bool]
}

extension UpdateSource {
    public func prepare(for doorbell: Doorbell) async {}

    /// Without a better answer: perhaps.
    public func haveMore(
        _ feeds: [(feed: any UpdateFeed, position: Position)]
    ) async throws(Failure) -> [Bool] {
        feeds.map { _ in true }
    }
}

/// One source, opened for one stream.
public protocol UpdateFeed: Sendable {
    /// The bell that says there may be more.
    var doorbell: Doorbell { get }

    /// Where the feed was opened, normalised.
    var start: Position { get }

    /// What the `ready` event says of this source, for instance `("head", 12)`.
    var standing: (name: StaticString, value: Int64) { get }

    /// Updates after `position` that this node has in memory; `nil` when it cannot tell without the table.
    ///
    /// Empty says that nothing of what this node itself did is missing; others may have done more.
    func recent(after position: Position) -> [Update]?

    /// The next updates after `position` from the table, at most about 256 KiB; empty when there are none now.
    func page(after position: Position) async throws(Failure) -> [Update]
}

extension UpdateFeed {
    public func recent(after position: Position) -> [Update]? { nil }
}

/// One event on its way to a stream.
public struct Update: Sendable {
    public let event: StaticString
    public let data: [UInt8]
    /// Where the source stands once this was delivered.
    public let position: Position

    public init(event: StaticString, data: [UInt8], position: Position) {
        self.event = event
        self.data = data
        self.position = position
    }
}
