public import Domain
import Postgres
import Wire

extension Transaction {
    /// Writes the audit entry of an act into the act's own transaction, with its COMMIT: no entry, no act.
    ///
    /// A trigger of the schema's owner puts it into the queue for its index.
    public func record(_ deed: Deed, by actor: Actor) {
        let id: AuditEntryID = newID()
        close(with: [
            """
            INSERT INTO audit_entry (id, occurred_at, action, outcome, actor_kind, actor_id, target_kind, target_id, app_id,
                                     session_id, request_id, before, after, reason)
            VALUES (\(id), \(now), \(deed.action.rawValue), \(deed.outcome.rawValue), \(actor.kind.rawValue), \(actor.id),
                    \(deed.target?.kind.rawValue), \(deed.target?.id), \(actor.app), \(actor.session), \(actor.requestID),
                    \(deed.before?.text), \(deed.after?.text), \(deed.reason))
            """
        ])
        ring(.audit)
    }
}

extension JSON {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}
