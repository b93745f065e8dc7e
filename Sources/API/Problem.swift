public import Domain
public import HTTP
public import Wire

/// The single translation from a failure to `application/problem+json` (RFC 9457).
public enum Problem {
    public static let mediaType = "application/problem+json"

    public static func response(to failure: Failure, requestID: String) -> Response {
        let kind = Kind(failure)
        var writer = opened(kind.type, kind.title, kind.status, kind.detail, requestID)
        switch failure {
        case .invalid(let faults), .missingParts(let faults): write(faults, to: &writer)
        case .conflict(.deviceSet(let mismatches)): write(mismatches, to: &writer)
        case .conflict(.messageIDUsed(let sent)):
            writer.key("original")
            sent.write(to: &writer)
        default: break
        }
        return closed(&writer, kind.status, headers(of: failure))
    }

    /// What the HTTP room refuses by itself, in the same form.
    public static func response(to refusal: Refusal, requestID: String) -> Response {
        var writer = opened(refusal.type, refusal.title, refusal.status, refusal.detail, requestID)
        return closed(&writer, refusal.status, refusal.headers)
    }

    private static func opened(
        _ type: StaticString, _ title: StaticString, _ status: Int, _ detail: StaticString, _ requestID: String
    ) -> JSONWriter {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", "/problems/\(type)")
        writer.field("title", "\(title)")
        writer.field("status", status)
        writer.field("detail", "\(detail)")
        writer.field("instance", requestID)
        return writer
    }

    private static func closed(_ writer: inout JSONWriter, _ status: Int, _ headers: [(String, String)]) -> Response {
        writer.endObject()
        return Response(
            status: status, headers: [("Content-Type", mediaType), ("Cache-Control", "no-store")] + headers,
            body: .bytes(writer.finish()))
    }

    /// The first hundred, each pointer cut where it can no longer be a name of ours: an answer stays small whatever came.
    private static func write(_ faults: [FieldFault], to writer: inout JSONWriter) {
        writer.key("errors")
        writer.beginArray()
        for fault in faults.prefix(100) {
            writer.beginObject()
            writer.field("pointer", String(String.UnicodeScalarView(fault.pointer.unicodeScalars.prefix(512))))
            writer.field("detail", fault.detail)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(_ mismatches: [DeviceSetMismatch], to writer: inout JSONWriter) {
        writer.key("accounts")
        writer.beginArray()
        for mismatch in mismatches {
            writer.beginObject()
            writer.field("accountId", mismatch.account.uuid)
            writer.field("version", mismatch.version)
            writer.list("missingDevices", mismatch.missing.map(\.uuid))
            writer.list("extraDevices", mismatch.extra.map(\.uuid))
            writer.list("staleDevices", mismatch.stale.map(\.uuid))
            writer.endObject()
        }
        writer.endArray()
    }

    private static func headers(of failure: Failure) -> [(String, String)] {
        switch failure {
        case .unauthenticated(.noToken): [("WWW-Authenticate", "Bearer realm=\"enfilade\"")]
        case .unauthenticated: [("WWW-Authenticate", "Bearer realm=\"enfilade\", error=\"invalid_token\"")]
        case .lacksScope(let scopes):
            [
                (
                    "WWW-Authenticate",
                    "Bearer realm=\"enfilade\", error=\"insufficient_scope\", scope=\"\(scopes.spaceSeparated)\""
                )
            ]
        case .limited(let seconds, _, let standing):
            [("Retry-After", "\(seconds)")] + RateStanding.headers([standing].compactMap(\.self))
        case .unavailable: [("Retry-After", "1")]
        // Spread, so that those who were turned away together do not come back together.
        case .busy: [("Retry-After", "\(Int.random(in: 1...3))")]
        default: []
        }
    }
}

/// The status, type and words of each failure.
private struct Kind {
    let status: Int
    let type: StaticString
    let title: StaticString
    let detail: StaticString

    init(_ status: Int, _ type: StaticString, _ title: StaticString, _ detail: StaticString) {
        self.status = status
        self.type = type
        self.title = title
        self.detail = detail
    }

    init(_ failure: Failure) {
        self =
            switch failure {
            case .invalid: Kind(400, "invalid-request", "Invalid request", "See errors for the fields that are wrong.")
            case .unauthenticated(.noToken):
                Kind(401, "unauthenticated", "Sign in first", "Send Authorization: Bearer with an access token.")
            case .unauthenticated(.badToken):
                Kind(401, "unauthenticated", "Sign in first", "The access token is malformed, expired or not ours.")
            case .unauthenticated(.sessionEnded):
                Kind(401, "session-ended", "The session has ended", "Sign in again to get a new session.")
            case .forbidden(let detail): Kind(403, "forbidden", "Not allowed", detail)
            case .lacksScope:
                Kind(403, "forbidden", "Not allowed", "The token does not carry the scope that this needs.")
            case .missing(let detail): Kind(404, "not-found", "Not found", detail)
            case .missingParts: Kind(404, "not-found", "Not found", "See errors for what does not exist.")
            case .conflict(let conflict): Kind(conflict)
            case .outdated:
                Kind(412, "precondition-failed", "Changed meanwhile", "Read it again: If-Match names another version.")
            case .unconditional:
                Kind(428, "precondition-required", "If-Match needed", "Send If-Match with the ETag that you read.")
            case .idempotencyKeyReused:
                Kind(422, "idempotency-key-reused", "Key reused", "This Idempotency-Key came with another body before.")
            case .tooLarge(let detail): Kind(413, "payload-too-large", "Too large", detail)
            case .limited(_, let detail, _): Kind(429, "rate-limited", "Too many requests", detail)
            case .busy:
                Kind(
                    503, "unavailable", "Busy just now",
                    "More is asked of the server than it can do; nothing was begun. Try again in a moment.")
            case .unavailable:
                Kind(
                    503, "unavailable", "Not available just now",
                    "Nothing was changed that was not answered; try again.")
            case .broken:
                Kind(500, "internal", "Internal error", "The operator finds the cause under this request's id.")
            }
    }

    private init(_ conflict: Conflict) {
        self =
            switch conflict {
            case .usernameTaken: Kind(409, "username-taken", "Username taken", "Another account has this username.")
            case .appTaken: Kind(409, "app-id-taken", "App id taken", "Another app has this id.")
            case .appInUse(let detail), .state(let detail): Kind(409, "conflict", "Conflict", detail)
            case .deviceKeyTaken:
                Kind(
                    409, "device-key-taken", "Device key taken",
                    "This identity key is or was another device's: make a new one.")
            case .deviceSet:
                Kind(409, "device-set-mismatch", "Other devices", "Address exactly the devices that accounts says.")
            case .messageIDUsed:
                Kind(409, "message-id-used", "Message id used", "This id was sent before with other content.")
            }
    }
}

extension SentMessage {
    /// `{id, sentAt, accepted}`, the answer to a send.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("id", id.uuid)
        writer.field("sentAt", sentAt)
        writer.list("accepted", accepted.map(\.uuid))
        writer.endObject()
    }
}
