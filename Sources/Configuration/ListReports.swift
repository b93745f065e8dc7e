import API
import Domain
import HTTP
import Store
import Wire

struct ListReports: Endpoint {
    static let route = Route.get("/v1/apps/{app}/config/reports")
    static let access = Access.scope(.admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let app = try request.app()
        let parameters = try request.parameters("limit", "after", "state", "revision")
        let limit = try parameters.limit()
        let after = try parameters.after(DeviceID.self)
        let filter = ReportFilter(
            state: try parameters.choice("state", of: Report.State.self),
            revision: try parameters.integer("revision", in: 0...maxRevision))
        let reports = try await database.transaction { (tx) throws(Failure) in
            try tx.requireApp(app)
            tx.record(Deed(.configurationReportsRead, of: .configuration(app)), by: caller.actor)
            return try tx.reports(of: app, filter, after: after, limit: limit + 1)
        }
        return .page(reports, limit: limit, by: \.device) { $0.write(to: &$1) }
    }
}
