import API
import Domain
import HTTP
import Postgres
import Store
import Wire

struct ListEntries: Endpoint {
    static let route = Route.get("/v1/audit/entries")
    static let access = Access.scope(.audit)
    let database: Database
    let reads: ReadNotes

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let parameters = try request.parameters("limit", "after", "actor", "action", "target", "outcome", "from", "to")
        let limit = try parameters.limit()
        let start = try Self.start(parameters)
        let filter = try Filter(parameters)
        try await note(filter, by: caller)
        let page = try await database.read(.underWay) { (tx) throws(Failure) in
            try tx.entries(from: start, filter, limit: limit)
        }
        guard start <= page.head + 1 else {
            throw .invalid("?after", "is beyond the end of the log: it is another log than the one read before")
        }
        return .page(page.entries, next: Self.next(page, limit).text) { $0.write(to: &$1) }
    }

    private static func start(_ parameters: Parameters) throws(Failure) -> Int64 {
        guard let text = parameters["after"] else { return 0 }
        guard let cursor = Cursor(text) else {
            throw .invalid("?after", "must be an index, or the next of a page")
        }
        return cursor.start
    }

    /// A page that is not full has seen the whole log, also what the filter left out.
    private static func next(_ page: Page, _ limit: Int) -> Cursor {
        guard page.entries.count == limit, let last = page.entries.last else { return Cursor(start: page.head + 1) }
        return Cursor(start: last.index + 1)
    }

    /// The reading is in the log before anything is shown; when it cannot be, nothing is.
    private func note(_ filter: Filter, by caller: Caller) async throws(Failure) {
        let reading = ReadNotes.Reading(session: caller.session, filter: filter)
        guard reads.isDue(reading, at: database.clock.now()) else { return }
        let now = try await database.transaction { (tx) throws(Failure) in
            let deed = Deed(.auditRead, of: Deed.Target(.audit, "entries"), after: filter.facts)
            tx.record(deed, by: caller.actor)
            return tx.now
        }
        reads.note(reading, at: now)
    }
}
