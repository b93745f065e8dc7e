import API
import Domain
import HTTP
import Store
import Wire

/// The devices that a sender must encrypt for: those of an account that hold the caller's app.
struct ReadDeviceList: Endpoint {
    static let route = Route.get("/v1/accounts/{account}/devices")
    static let access = Access.scope(.mailbox, .admin)
    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        let account: AccountID = try request.id("account", "There is no such account.")
        let isWhole = try request.parameters("all").flag("all")
        guard !isWhole || caller.scopes.contains(.admin) else {
            throw .lacksScope([.admin])
        }
        let app = isWhole ? nil : caller.app
        let rows = try await database.ask(.deviceList(of: account, holding: app))
        guard let list = DeviceList(of: account, rows) else { throw .missing("There is no such account.") }
        // What any sender may read is not written down: it would tell who is about to write to whom.
        if isWhole || !caller.scopes.contains(.mailbox), account != caller.account {
            try await database.transaction { (tx) throws(Failure) in
                tx.record(Deed(.devicesRead, of: .account(account)), by: caller.actor)
            }
        }
        // No app has a dot in its id.
        let etag = ETag(opaque: app.map { "\(list.version)-\($0)" } ?? "\(list.version).all")
        guard !request.holds(etag) else { return .notModified(etag) }
        return .json(etag: etag) { list.write(to: &$0) }
    }
}

/// An account's devices as senders see them, all from one moment.
struct DeviceList: Sendable {
    let account: AccountID
    let version: Int64
    let devices: [ListedDevice]

    /// One device and the version of the list it is on; an account without devices has one row without any.
    struct Row: Sendable {
        let version: Int64
        let device: ListedDevice?
    }

    init?(of account: AccountID, _ rows: [Row]) {
        guard let first = rows.first else { return nil }
        self.account = account
        version = first.version
        devices = rows.compactMap(\.device)
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("accountId", account.uuid)
        writer.field("version", version)
        writer.key("devices")
        writer.beginArray()
        for device in devices { device.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}

struct ListedDevice: Sendable {
    let id: DeviceID
    let platform: String
    let identityKey: [UInt8]
    let agreementKey: [UInt8]
    let keyVersion: Int64

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("id", id.uuid)
        writer.field("platform", platform)
        writer.key("identityKey")
        writer.base64(identityKey)
        writer.key("agreementKey")
        writer.base64(agreementKey)
        writer.field("keyVersion", keyVersion)
        writer.endObject()
    }
}
