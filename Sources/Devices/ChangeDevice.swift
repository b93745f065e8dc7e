import API
import Domain
import HTTP
import Store
import Wire

/// Renames or describes one of the caller's devices; senders see none of it, so the list's version stays.
struct ChangeDevice: Endpoint {
    static let route = Route.patch("/v1/devices/{device}")
    static let access = Access.scope(.mailbox, .config, .admin)
    let database: Database
    let limit: RateLimit<AccountID>

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let id: DeviceID = try request.id("device", "There is no such device.")
        _ = try request.parameters()
        let change = try request.parse { DeviceChange(&$0) }
        guard !change.isEmpty else { throw .invalid("", "must change at least one field") }
        try limit.spend(caller.account, at: database.clock.now(), else: "Devices change less often than this.")
        let device = try await database.transaction { (tx) throws(Failure) in
            try tx.refuseExtension(caller.app)
            guard let before = try tx.lockDevice(id), before.account == caller.account else {
                throw .missing("There is no such device.")
            }
            try request.checkMatch(before.etag)
            let after = before.changed(by: change, at: tx.now)
            guard after != before else { return before }
            try tx.save(after)
            if after.facts != before.facts { try tx.recordChange(of: before, to: after, by: caller.actor) }
            return after
        }
        return .json(etag: device.etag) { device.write(to: &$0, for: caller.device) }
    }
}

/// What is to become of a device's description; what is absent stays.
struct DeviceChange: Sendable {
    let name: String?
    let model: String?
    let osVersion: String?
    let appVersion: String?

    init(_ fields: inout Fields) {
        name = fields.optionalText("name", DeviceDescription.nameLength)
        model = fields.optionalText("model", DeviceDescription.modelLength)
        osVersion = fields.optionalText("osVersion", DeviceDescription.versionLength)
        appVersion = fields.optionalText("appVersion", DeviceDescription.versionLength)
    }

    var isEmpty: Bool { name == nil && model == nil && osVersion == nil && appVersion == nil }
}

extension Device {
    func changed(by change: DeviceChange, at instant: Instant) -> Device {
        var device = self
        device.description.name = change.name ?? description.name
        device.description.model = change.model ?? description.model
        device.description.osVersion = change.osVersion ?? description.osVersion
        device.description.appVersion = change.appVersion ?? description.appVersion
        guard device != self else { return self }
        device.updatedAt = instant
        device.version += 1
        return device
    }
}

extension Transaction {
    func recordChange(of before: Device, to after: Device, by actor: Actor) throws(Failure) {
        record(Deed(.deviceChanged, of: .device(after.id), before: before.facts, after: after.facts), by: actor)
    }
}
