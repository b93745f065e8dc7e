import API
import Domain
import HTTP
import Postgres
import Store
import Wire

/// Enrols the session's device, or binds the session to a device that was enrolled before.
struct EnrolDevice: Endpoint {
    static let route = Route.post("/v1/devices")
    static let access = Access.signedIn
    let database: Database
    let issuer: String
    let maximumDevices: Int
    let limit: RateLimit<AccountID>

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        _ = try request.parameters()
        let enrolment = try request.parse { Enrolment(&$0) }
        try limit.spend(caller.account, at: database.clock.now(), else: "Devices change less often than this.")
        if let flaw = enrolment.flaw(issuer: issuer, account: caller.account, session: caller.session) {
            await recordRefusal(flaw.rawValue, caller)
            throw flaw.failure
        }
        let (device, isNew) = try await enrol(enrolment, caller)
        return .json(isNew ? 201 : 200, etag: device.etag, location: isNew ? device.location : nil) { writer in
            device.write(to: &writer, for: device.id)
        }
    }

    private func enrol(_ enrolment: Enrolment, _ caller: Caller) async throws(Failure) -> (Device, isNew: Bool) {
        let maximum = maximumDevices
        do throws(Failure) {
            return try await database.transaction { (tx) throws(Failure) in
                try tx.enrol(enrolment, caller, atMost: maximum)
            }
        } catch {
            if case .conflict(.deviceKeyTaken) = error { await recordRefusal("device-key-taken", caller) }
            throw error
        }
    }

    /// Writes down an enrolment that did not happen; when even that fails, it still did not happen.
    private func recordRefusal(_ reason: String, _ caller: Caller) async {
        let deed = Deed(.deviceRefused, .refused, of: .account(caller.account), reason: reason)
        try? await database.transaction(.underWay) { (tx) throws(Failure) in tx.record(deed, by: caller.actor) }
    }
}

extension Transaction {
    /// The device with this identity key, made or found, with the session bound to it and the app's mailbox open.
    fileprivate func enrol(
        _ enrolment: Enrolment, _ caller: Caller, atMost maximum: Int
    ) throws(Failure) -> (Device, isNew: Bool) {
        // The session before the list, as everybody takes them.
        let session = try holdSession(caller.session)
        try lockDeviceList(of: caller.account)
        let known = try deviceForEnrolling(enrolment.identityKey, of: caller.account)
        if let bound = session.device, bound != known?.id {
            throw .conflict(.state("This session belongs to another device: sign in again to enrol a new one."))
        }
        let before = if let known { known } else { try make(enrolment, caller, atMost: maximum) }
        let after = known == nil ? before : before.enrolledAgain(by: enrolment, at: now)
        if after != before { try save(after) }
        if session.device == nil { try bind(caller.session, to: after.id) }
        var hasNewMailbox = false
        if session.scopes.contains(.mailbox) {
            hasNewMailbox = try openMailbox(of: caller.account, on: after.id, for: caller.app)
        }
        if known == nil || after.keyVersion != before.keyVersion || hasNewMailbox {
            try bumpDeviceList(of: caller.account)
        }
        if after.facts != before.facts { try recordChange(of: before, to: after, by: caller.actor) }
        if session.device == nil {
            record(Deed(.deviceEnrolled, of: .device(after.id), after: after.facts), by: caller.actor)
        }
        guard let device = try device(after.id) else { throw .broken(cause: "an enrolled device is not there") }
        return (device, known == nil)
    }

    /// The account's device with this key; a key that is or was another's is refused.
    private func deviceForEnrolling(_ identityKey: [UInt8], of account: AccountID) throws(Failure) -> Device? {
        guard let holder = try holder(of: identityKey) else { return nil }
        guard holder.account == account, !holder.isRemoved else { throw .conflict(.deviceKeyTaken) }
        return try lockDevice(holder.id)
    }

    private func make(_ enrolment: Enrolment, _ caller: Caller, atMost maximum: Int) throws(Failure) -> Device {
        guard try deviceCount(of: caller.account) < maximum else {
            throw .conflict(.state("This account has as many devices as it may: remove one first."))
        }
        let device = Device(
            id: newID(), account: caller.account, description: enrolment.description,
            identityKey: enrolment.identityKey, agreementKey: enrolment.agreementKey, keyVersion: 1, enrolledAt: now,
            updatedAt: now, lastSeenAt: now, version: 1, apps: [])
        try insert(device)
        return device
    }
}

extension Device {
    /// The device as it describes itself now; another agreement key is a new version of its keys.
    func enrolledAgain(by enrolment: Enrolment, at instant: Instant) -> Device {
        var device = self
        device.description = enrolment.description
        if enrolment.agreementKey != agreementKey {
            device.agreementKey = enrolment.agreementKey
            device.keyVersion += 1
        }
        if device != self {
            device.version += 1
            device.updatedAt = instant
        }
        device.lastSeenAt = instant
        return device
    }
}
