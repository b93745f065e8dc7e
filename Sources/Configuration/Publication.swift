import API
import Domain
import HTTP
import Store
import Wire

/// The revision that a publication makes, or would make, and what changes with it.
struct Publication: Sendable {
    let app: AppID
    let current: Revision?
    let changes: [Change]
    let isOnlyValidated: Bool

    init(of values: JSON.Object, over current: Revision?, in app: AppID, isOnlyValidated: Bool) throws(Failure) {
        self.app = app
        self.current = current
        self.isOnlyValidated = isOnlyValidated
        changes = Change.between(try current.values(), values)
    }

    /// Values equal to the published ones change nothing.
    var revision: Int64 { changes.isEmpty ? current.number : current.number + 1 }

    func answer(_ status: Int = 200) -> Response {
        let tag = ETag(isOnlyValidated ? current.number : revision)
        let location = status == 201 ? "/v1/apps/\(app)/config/revisions/\(revision)" : nil
        return .json(status, etag: tag, location: location) { writer in
            writer.beginObject()
            writer.field("revision", revision)
            writer.changes(changes)
            writer.field("validateOnly", isOnlyValidated)
            writer.endObject()
        }
    }
}

extension Transaction {
    /// The app, which cannot be removed before this transaction ends.
    func holdKnownApp(_ app: AppID) throws(Failure) {
        guard try holdApp(app) != nil else { throw .missing("There is no such app.") }
    }

    func requireApp(_ app: AppID) throws(Failure) {
        guard try appFacts(app) != nil else { throw .missing("There is no such app.") }
    }

    /// Puts a publication in force with its audit entry and doorbell; the configuration is locked by the caller.
    func publish(
        _ publication: Publication, _ content: [UInt8], reason: String, rolledBackFrom: Int64? = nil, by caller: Caller
    ) throws(Failure) {
        let summary = RevisionSummary(
            revision: publication.revision, reason: reason, author: caller.account, rolledBackFrom: rolledBackFrom,
            createdAt: now)
        try insert(Revision(summary: summary, content: content), of: publication.app)
        var after = Change.facts(publication.changes, revision: publication.revision)
        if let rolledBackFrom { after["rolledBackFrom"] = .number(JSON.Number(rolledBackFrom)) }
        let before: JSON = ["revision": .number(JSON.Number(publication.current.number))]
        let action: Deed.Action = rolledBackFrom == nil ? .configurationPublished : .configurationRolledBack
        let deed = Deed(
            action, of: .configuration(publication.app), before: before, after: .object(after), reason: reason)
        record(deed, by: caller.actor)
        ring(.configuration(publication.app))
    }
}

extension JSONWriter {
    mutating func changes(_ changes: [Change]) {
        key("changes")
        beginArray()
        for change in changes { change.write(to: &self) }
        endArray()
    }
}
