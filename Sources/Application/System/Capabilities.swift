import API
import Domain
import HTTP
import Wire

/// `GET /v1/capabilities`: what this server can do and how much of it it takes.
struct ShowCapabilities: InstantEndpoint {
    static let route = Route.get("/v1/capabilities")

    private let document: [UInt8]
    private let tag: ETag

    init(settings: Settings) {
        document = Self.document(settings)
        tag = ETag(hashing: document)
    }

    func respond(to request: Request) throws(Failure) -> Response {
        _ = try request.parameters()
        return request.holds(tag) ? .notModified(tag) : .json(etag: tag, bytes: document)
    }

    private static func document(_ settings: Settings) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("version", Program.version)
        writer.list("features", ["login", "devices", "messages", "configuration", "events", "audit"])
        writer.key("limits")
        writer.beginObject()
        writer.field("ciphertextBytes", settings.ciphertextBytes)
        writer.field("envelopesPerMessage", settings.envelopes)
        writer.field("messageBytes", settings.messageBytes)
        writer.field("bodyBytes", settings.bodyBytes)
        writer.field("mailboxItems", settings.mailboxItems)
        writer.field("mailboxBytes", settings.mailboxBytes)
        writer.field("mailboxDays", settings.mailboxDays)
        writer.field("streamsPerDevice", settings.streamsPerDevice)
        writer.field("streamsPerAccount", settings.streamsPerAccount)
        writer.field("configurationBytes", settings.configurationBytes)
        writer.field("headerBytes", settings.headerBytes)
        writer.field("urlBytes", settings.urlBytes)
        writer.endObject()
        writer.key("rates")
        writer.beginArray()
        for rate in settings.rates {
            writer.beginObject()
            writer.field("name", rate.name)
            writer.field("per", rate.per.rawValue)
            writer.field("quota", rate.burst)
            writer.field("seconds", rate.window)
            writer.endObject()
        }
        writer.endArray()
        writer.field("readOnly", false)
        writer.endObject()
        return writer.finish()
    }
}
