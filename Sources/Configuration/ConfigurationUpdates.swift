import API
import Domain
import Store
import Synchronization

/// Configuration in the event stream: one combined step from what the device holds to what is published.
struct ConfigurationUpdates: UpdateSource {
    let database: Database
    let shelf: PublishedShelf
    let patches: PatchShelf
    /// What streams of this node were last told, or found when they opened.
    let latest = Latest()

    var letter: UInt8 { UInt8(ascii: "c") }

    func serves(_ listener: Listener) -> Bool { listener.caller.scopes.contains(.config) }

    /// Starts at the position, or else at what the device last reported as applied.
    func open(_ listener: Listener, at position: Position?) async throws(Failure) -> any UpdateFeed {
        let app = listener.caller.app
        let start = try await start(listener, position)
        let published = try await shelf.published(for: app, atLeast: start.revision)
        latest.exchange(app, published.mark)
        return ConfigurationFeed(
            app: app, mark: start, openedAt: published.mark.revision, shelf: shelf, patches: patches)
    }

    /// Nearly all streams take the same step: it is read and written once, before they are told.
    func prepare(for doorbell: Doorbell) async {
        guard case .configuration(let app) = doorbell,
            let published = try? await shelf.published(for: app, atLeast: 0),
            let before = latest.exchange(app, published.mark), before.revision < published.mark.revision
        else { return }
        _ = try? await patches.patch(of: app, from: before, to: published)
    }

    func haveMore(
        _ feeds: [(feed: any UpdateFeed, position: Position)]
    ) async throws(Failure) -> [Bool] {
        var positions: [AppID: Position] = [:]
        for case let feed as ConfigurationFeed in feeds.map(\.feed) where positions[feed.app] == nil {
            positions[feed.app] = try await shelf.published(for: feed.app, atLeast: 0).mark.position
        }
        return feeds.map { entry in
            guard let feed = entry.feed as? ConfigurationFeed else { return false }
            return positions[feed.app] != entry.position
        }
    }

    private func start(_ listener: Listener, _ position: Position?) async throws(Failure) -> Mark {
        guard let position else {
            let (app, device) = (listener.caller.app, listener.device)
            return try await database.read { (tx) throws(Failure) in try tx.appliedMark(of: app, on: device) }
        }
        guard let mark = Mark(position) else { throw .invalid("Last-Event-ID", "is not an id of this stream") }
        return mark
    }
}

/// The newest state of each app that this node has seen.
final class Latest: Sendable {
    private let marks = Mutex<[AppID: Mark]>([:])

    /// Returns the one before.
    @discardableResult
    func exchange(_ app: AppID, _ mark: Mark) -> Mark? {
        marks.withLock { $0.updateValue(mark, forKey: app) }
    }
}

struct ConfigurationFeed: UpdateFeed {
    let app: AppID
    let mark: Mark
    let openedAt: Int64
    let shelf: PublishedShelf
    let patches: PatchShelf

    var doorbell: Doorbell { .configuration(app) }
    var start: Position { mark.position }

    var standing: (name: StaticString, value: Int64) {
        ("revision", shelf.held(for: app)?.mark.revision ?? openedAt)
    }

    func recent(after position: Position) -> [Update]? {
        guard let held = Mark(position), let published = shelf.held(for: app) else { return nil }
        guard held != published.mark else { return [] }
        guard held.revision < published.mark.revision else { return nil }
        return patches.held(of: app, from: held, to: published).map { [update($0, published)] }
    }

    func page(after position: Position) async throws(Failure) -> [Update] {
        guard let held = Mark(position) else { throw .broken(cause: "a position of configuration cannot be read") }
        // Behind what the device holds this node has only not heard yet; still behind after reading, the past was replaced.
        let published = try await shelf.published(for: app, atLeast: held.revision)
        guard held != published.mark else { return [] }
        return [update(try await patches.patch(of: app, from: held, to: published), published)]
    }

    private func update(_ data: [UInt8], _ published: Published) -> Update {
        Update(event: "config", data: data, position: published.mark.position)
    }
}
