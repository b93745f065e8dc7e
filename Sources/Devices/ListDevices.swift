import API
import Domain
import HTTP
import Store

/// The caller's own devices.
struct ListDevices: Endpoint {
    static let route = Route.get("/v1/devices")
    static let access = Access.signedIn
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let parameters = try request.parameters("limit", "after")
        let limit = try parameters.limit()
        let after = try parameters.after(DeviceID.self)
        let devices = try await database.ask(.devices(of: caller.account, after: after, limit: limit + 1))
        return .page(devices, limit: limit, by: \.id) { $0.write(to: &$1, for: caller.device) }
    }
}
