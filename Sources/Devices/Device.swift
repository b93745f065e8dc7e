import API
import Crypto
import Domain
import Wire

/// One enrolled device, as its owner and administrators see it.
struct Device: Sendable, Equatable {
    let id: DeviceID
    let account: AccountID
    var description: DeviceDescription
    let identityKey: [UInt8]
    var agreementKey: [UInt8]
    var keyVersion: Int64
    let enrolledAt: Instant
    var updatedAt: Instant
    var lastSeenAt: Instant?
    var version: Int64
    /// Those with a mailbox or a live session on it.
    let apps: [AppID]

    /// Covers everything that is answered but when it was last seen, and for whom it is the current one.
    var etag: ETag {
        let names = apps.map(\.text).joined(separator: " ")
        return ETag(opaque: "\(version)-\(Hex.encode(Array(BLAKE2b.hash(Array(names.utf8)).prefix(8))))")
    }

    var location: String { "/v1/devices/\(id)" }

    /// What the audit log keeps of it.
    var facts: JSON {
        [
            "name": .string(description.name), "platform": .string(description.platform),
            "keyVersion": .number(JSON.Number(keyVersion)),
        ]
    }

    func write(to writer: inout JSONWriter, for caller: DeviceID?) {
        writer.beginObject()
        writer.field("id", id.uuid)
        writer.field("accountId", account.uuid)
        writer.field("name", description.name)
        writer.field("platform", description.platform)
        writer.field("model", description.model)
        writer.field("osVersion", description.osVersion)
        writer.field("appVersion", description.appVersion)
        writer.key("identityKey")
        writer.base64(identityKey)
        writer.key("agreementKey")
        writer.base64(agreementKey)
        writer.field("keyVersion", keyVersion)
        writer.field("enrolledAt", enrolledAt)
        writer.field("lastSeenAt", lastSeenAt)
        writer.field("current", id == caller)
        writer.list("apps", apps.map(\.text))
        writer.endObject()
    }
}

/// What a device says of itself.
struct DeviceDescription: Sendable, Equatable {
    static let nameLength = 1...128
    static let modelLength = 1...64
    static let versionLength = 1...64

    enum Platform: String, CaseIterable, Sendable {
        case iOS, iPadOS, macOS, watchOS, visionOS, linux, other
    }

    var name: String
    let platform: String
    var model: String?
    var osVersion: String?
    var appVersion: String?
}
