import Domain
import Store
import Wire

/// The steps between two states of an app, written once however many devices take them.
final class PatchShelf: Sendable {
    private struct Key: Hashable, Sendable {
        let app: AppID
        let from: Mark
        let to: Mark
    }

    private let database: Database
    private let shelf = Shelf<Key, [UInt8]>(maximumAge: nil, capacity: 128)

    init(database: Database) { self.database = database }

    func held(of app: AppID, from mark: Mark, to published: Published) -> [UInt8]? {
        shelf.held(for: Key(app: app, from: mark, to: published.mark))
    }

    /// The `config` event that leads from what a device holds to what is published.
    func patch(of app: AppID, from mark: Mark, to published: Published) async throws(Failure) -> [UInt8] {
        let key = Key(app: app, from: mark, to: published.mark)
        return try await shelf.value(for: key) { () async throws(Failure) in
            let held = try await self.values(of: app, at: mark)
            let values = try Revision.values(published.content)
            return Patch.data(from: mark.revision, held, to: published.mark.revision, values)
        }
    }

    /// The values of a state; `nil` when the table has no such revision, or another one under its number.
    private func values(of app: AppID, at mark: Mark) async throws(Failure) -> JSON.Object? {
        guard mark != .unpublished else { return JSON.Object() }
        let revision = try await database.read { (tx) throws(Failure) in try tx.revision(mark.revision, of: app) }
        guard let revision, revision.mark == mark else { return nil }
        return try revision.values()
    }
}

enum Patch {
    static let mostKeys = 100
    static let mostBytes = 64 * 1024

    /// `{from, revision, set?, unset?}`, or `{from, revision, fetch}` when the device does better to read it all.
    ///
    /// `held` is what the device holds; `nil` when the server cannot tell.
    static func data(from: Int64, _ held: JSON.Object?, to revision: Int64, _ values: JSON.Object) -> [UInt8] {
        guard let held else { return fetch(from, revision) }
        let changes = Change.between(held, values)
        guard changes.count <= mostKeys else { return fetch(from, revision) }
        let data = steps(from, revision, changes)
        return data.count <= mostBytes ? data : fetch(from, revision)
    }

    private static func steps(_ from: Int64, _ revision: Int64, _ changes: [Change]) -> [UInt8] {
        let set = changes.compactMap { change in change.after.map { (key: change.key, value: $0) } }
        let unset = changes.filter { $0.after == nil }.map(\.key)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("from", from)
        writer.field("revision", revision)
        if !set.isEmpty {
            writer.key("set")
            writer.value(.object(JSON.Object(set)))
        }
        if !unset.isEmpty {
            writer.key("unset")
            writer.value(.array(unset.map(JSON.string)))
        }
        writer.endObject()
        return writer.finish()
    }

    private static func fetch(_ from: Int64, _ revision: Int64) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("from", from)
        writer.field("revision", revision)
        writer.field("fetch", true)
        writer.endObject()
        return writer.finish()
    }
}
