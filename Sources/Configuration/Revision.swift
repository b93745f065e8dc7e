import API
import Domain
import Wire

/// Which state of an app's configuration is meant: the revision, and when it was published.
///
/// The instant tells a revision from another one with the same number: a restored backup counts anew, and so does a new
/// app under an old id.
struct Mark: Hashable, Sendable {
    static let unpublished = Mark(revision: 0, publishedAt: Instant(microseconds: 0))

    let revision: Int64
    let publishedAt: Instant

    init(revision: Int64, publishedAt: Instant) {
        self.revision = revision
        self.publishedAt = publishedAt
    }

    /// Reads a position of the event stream.
    init?(_ position: Position) {
        var reader = ByteReader(position)
        guard let number = try? reader.varint(), let micros = try? reader.uint64(), reader.isAtEnd else { return nil }
        guard let revision = Int64(exactly: number) else { return nil }
        self.init(revision: revision, publishedAt: Instant(microseconds: Int64(bitPattern: micros)))
    }

    var position: Position {
        var writer = ByteWriter()
        writer.varint(UInt64(revision.magnitude))
        writer.uint64(UInt64(bitPattern: publishedAt.microseconds))
        return writer.finish()
    }

    var etag: ETag { ETag(opaque: "\(revision)-\(String(publishedAt.microseconds, radix: 36))") }
}

/// A revision without its values.
struct RevisionSummary: Sendable {
    let revision: Int64
    let reason: String
    let author: AccountID
    let rolledBackFrom: Int64?
    let createdAt: Instant

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeFields(to: &writer)
        writer.endObject()
    }

    func writeFields(to writer: inout JSONWriter) {
        writer.field("revision", revision)
        writer.field("reason", reason)
        writer.reference("author", to: author)
        writer.field("createdAt", createdAt)
        writer.field("rolledBackFrom", rolledBackFrom)
    }
}

/// A revision as it was published.
struct Revision: Sendable {
    let summary: RevisionSummary
    /// The values: one JSON object, encoded.
    let content: [UInt8]

    var number: Int64 { summary.revision }
    var mark: Mark { Mark(revision: number, publishedAt: summary.createdAt) }

    func values() throws(Failure) -> JSON.Object { try Self.values(content) }

    static func values(_ content: [UInt8]) throws(Failure) -> JSON.Object {
        guard let object = try? JSON.parse(content, maximumDepth: 64).fields else {
            throw .broken(cause: "a configuration in the database is not a JSON object")
        }
        return object
    }
}

extension Revision? {
    /// The revision in force; 0 while nothing has been published.
    var number: Int64 { self?.number ?? 0 }

    var mark: Mark { self?.mark ?? .unpublished }

    func values() throws(Failure) -> JSON.Object { try self?.values() ?? JSON.Object() }
}

extension JSONWriter {
    mutating func reference(_ name: StaticString, to account: AccountID) {
        key(name)
        beginObject()
        field("id", account.uuid)
        endObject()
    }
}

/// A revision number as what a list goes on from.
struct RevisionKey: ListKey {
    let number: Int64

    init(_ number: Int64) { self.number = number }

    init?(position: [UInt8]) {
        var reader = ByteReader(position)
        guard let value = try? reader.varint(), reader.isAtEnd, let number = Int64(exactly: value) else { return nil }
        self.init(number)
    }

    var position: [UInt8] {
        var writer = ByteWriter()
        writer.varint(UInt64(number.magnitude))
        return writer.finish()
    }
}
