import API
import Domain
import HTTP
import Store
import Wire

/// Removes a device for good: its key is never taken again, its sessions end, its mailboxes go with all they hold.
struct RemoveDevice: Endpoint {
    static let route = Route.delete("/v1/devices/{device}")
    static let access = Access.scope(.mailbox, .config, .admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: DeviceID = try request.id("device", "There is no such device.")
        _ = try request.parameters()
        try await database.transaction { (tx) throws(Failure) in
            try tx.refuseExtension(caller.app)
            let device = try tx.device(id).known(to: caller)
            try request.checkMatch(device.etag)
            // Sessions before the list, as an enrolment takes them; once more under the list's lock for those that were
            // bound meanwhile.
            var ended = try tx.endSessions(on: id, because: .deviceRemoved).count
            try tx.lockDeviceList(of: device.account)
            guard let current = try tx.lockDevice(id) else { throw .missing("There is no such device.") }
            guard current.version == device.version || !request.isConditional else { throw .outdated }
            ended += try tx.endSessions(on: id, because: .deviceRemoved).count
            try tx.removeDevice(id)
            try tx.closeMailboxes(on: id)
            try tx.bumpDeviceList(of: device.account)
            let facts: JSON = ["sessionsEnded": .number(JSON.Number(Int64(ended)))]
            tx.record(Deed(.deviceRemoved, of: .device(id), before: current.facts, after: facts), by: caller.actor)
        }
        return .noContent
    }
}

extension Request {
    fileprivate var isConditional: Bool { head.headers["if-match"] != nil }
}
