import API
import Domain
import Wire

/// What a device says became of a revision.
struct Report: Sendable {
    enum State: String, CaseIterable, Sendable { case applied, rejected }

    let device: DeviceID
    let account: AccountID
    let revision: Int64
    let state: State
    /// A JSON array, encoded; `nil` when there are none.
    let reasons: [UInt8]?
    let reportedAt: Instant

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("deviceId", device.uuid)
        writer.field("accountId", account.uuid)
        writer.field("revision", revision)
        writer.field("state", state.rawValue)
        if let reasons {
            writer.key("reasons")
            writer.raw(reasons)
        }
        writer.field("reportedAt", reportedAt)
        writer.endObject()
    }
}

/// Which reports a list shows.
struct ReportFilter: Sendable {
    let state: Report.State?
    let revision: Int64?

    var isEmpty: Bool { state == nil && revision == nil }
}

/// Why a value was rejected, in the app's own words.
struct ReportReason: Sendable {
    let key: String
    let code: String
    let detail: String

    init(_ fields: inout Fields) {
        key = fields.text("key", 1...Values.longestKey)
        code = fields.text("code", 1...64)
        detail = fields.text("detail", 0...500)
        if !code.utf8.allSatisfy(Self.isCode) { fields.fault("code", "may hold A-Z a-z 0-9 . _ - only") }
    }

    var json: JSON { ["key": .string(key), "code": .string(code), "detail": .string(detail)] }

    private static func isCode(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
    }
}
