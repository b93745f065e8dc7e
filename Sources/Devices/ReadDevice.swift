import API
import Domain
import HTTP
import Store

/// One of the caller's devices; to an administrator anybody's, and that is written down.
struct ReadDevice: Endpoint {
    static let route = Route.get("/v1/devices/{device}")
    static let access = Access.signedIn
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: DeviceID = try request.id("device", "There is no such device.")
        _ = try request.parameters()
        let device = try await database.askFirst(.device(id)).known(to: caller)
        if device.account != caller.account {
            try await database.transaction { (tx) throws(Failure) in
                tx.record(Deed(.devicesRead, of: .device(id)), by: caller.actor)
            }
        }
        guard !request.holds(device.etag) else { return .notModified(device.etag) }
        return .json(etag: device.etag) { device.write(to: &$0, for: caller.device) }
    }
}

extension Optional<Device> {
    /// The device, when the caller may know of it: its own, or with scope `admin` anybody's.
    func known(to caller: Caller) throws(Failure) -> Device {
        guard let self, self.account == caller.account || caller.scopes.contains(.admin) else {
            throw .missing("There is no such device.")
        }
        return self
    }
}
