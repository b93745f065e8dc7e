import API
import Domain
import Postgres
import Store
import Wire

/// An app's configuration as its devices get it.
///
/// A class, since every stream and every request takes it from the shelf.
final class Published: Sendable {
    static let noValues = Array("{}".utf8)

    let mark: Mark
    /// The values, encoded.
    let content: [UInt8]
    /// The whole answer, encoded once for all that ask.
    let answer: [UInt8]
    let etag: ETag

    init(_ revision: Revision?) {
        mark = revision.mark
        content = revision?.content ?? Self.noValues
        etag = mark.etag
        var writer = JSONWriter(capacity: content.count + 64)
        writer.beginObject()
        writer.field("revision", mark.revision)
        writer.key("values")
        writer.raw(content)
        writer.field("managed", true)
        writer.endObject()
        answer = writer.finish()
    }
}

/// The configurations in force that this node's devices ask for.
///
/// One is believed for a second; those in use are checked twice a second in one statement, and dropped as soon as a
/// doorbell rings. So reading what one has just published on this node always shows it, and elsewhere a moment later.
final class PublishedShelf: Service {
    private static let maximumAge = Duration.seconds(1)
    private static let pause = Duration.milliseconds(500)
    private static let idleAfter = Duration.seconds(60)

    private let database: Database
    private let shelf = Shelf<AppID, Published>(maximumAge: maximumAge, capacity: 10_000)

    init(database: Database) {
        self.database = database
        database.bell.listen { [shelf] doorbell, _ in
            if case .configuration(let app) = doorbell { shelf.forget(app) }
        }
    }

    /// What can be said without waiting.
    func held(for app: AppID) -> Published? { shelf.held(for: app) }

    /// What is in force; when this node is behind what the asker has heard of, it reads the table.
    func published(for app: AppID, atLeast revision: Int64) async throws(Failure) -> Published {
        let load: () async throws(Failure) -> Published = { () async throws(Failure) in
            Published(try await self.database.read { (tx) throws(Failure) in try tx.currentRevision(of: app) })
        }
        let published = try await shelf.value(for: app, load)
        guard published.mark.revision < revision else { return published }
        // Whatever is asked for, one load at a time: nobody's question may cost everybody the database.
        return try await shelf.loaded(for: app, load)
    }

    func run() async {
        while !Task.isCancelled {
            // When the check fails the values grow too old to be believed, and requests say what is wrong.
            try? await check()
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func check() async throws(Failure) {
        try await shelf.check(usedWithin: Self.idleAfter) { used throws(Failure) in
            let apps = Array(used.keys)
            let marks = try await self.database.read(.underWay) { (tx) throws(Failure) in try tx.marks(of: apps) }
            return Set(used.filter { (marks[$0.key] ?? .unpublished) == $0.value.mark }.keys)
        }
    }
}
