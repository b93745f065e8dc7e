public import HTTP
public import Wire

extension Response {
    public static let noContent = Response(status: 204, headers: [("Cache-Control", "no-store")], body: .empty)

    /// A JSON answer, written in one pass.
    public static func json(
        _ status: Int = 200, etag: ETag? = nil, location: String? = nil, _ write: (inout JSONWriter) -> Void
    ) -> Response {
        var writer = JSONWriter()
        write(&writer)
        return json(status, etag: etag, location: location, bytes: writer.finish())
    }

    public static func json(
        _ status: Int = 200, etag: ETag? = nil, location: String? = nil, bytes: [UInt8]
    ) -> Response {
        var headers = [("Content-Type", "application/json")]
        if let etag { headers.append(("ETag", etag.text)) }
        if let location { headers.append(("Location", location)) }
        headers.append(("Cache-Control", etag == nil ? "no-store" : "private, no-cache"))
        return Response(status: status, headers: headers, body: .bytes(bytes))
    }

    /// A page of a list: `{items, next?}`.
    public static func page<T>(
        _ items: [T], next: String?, _ write: (T, inout JSONWriter) -> Void
    ) -> Response {
        json { writer in
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            for item in items { write(item, &writer) }
            writer.endArray()
            writer.field("next", next)
            writer.endObject()
        }
    }
}

extension JSONWriter {
    public mutating func list(_ name: StaticString, _ values: [UUID]) {
        key(name)
        beginArray()
        for value in values { uuid(value) }
        endArray()
    }

    public mutating func list(_ name: StaticString, _ values: [String]) {
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}

extension Route {
    public static let smallBody = 64 * 1024
    private static let json = ["application/json"]

    public static func get(_ pattern: String) -> Route { Route(.get, pattern, produces: json) }

    public static func delete(_ pattern: String) -> Route { Route(.delete, pattern) }

    public static func post(_ pattern: String, limit: Int = smallBody) -> Route { json(.post, pattern, limit) }

    public static func put(_ pattern: String, limit: Int = smallBody) -> Route { json(.put, pattern, limit) }

    public static func patch(_ pattern: String, limit: Int = smallBody) -> Route { json(.patch, pattern, limit) }

    private static func json(_ method: Method, _ pattern: String, _ limit: Int) -> Route {
        Route(method, pattern, body: .limited(bytes: limit, mediaTypes: json), produces: json)
    }
}
