public import Domain
public import HTTP
public import Wire

/// What a list is ordered by and goes on from; on the wire an opaque text.
public protocol ListKey {
    init?(position: [UInt8])

    var position: [UInt8] { get }
}

extension ID: ListKey {
    public init?(position: [UInt8]) {
        guard let uuid = UUID(bytes: position) else { return nil }
        self.init(uuid)
    }

    public var position: [UInt8] { uuid.bytes }
}

extension AppID: ListKey {
    public init?(position: [UInt8]) { self.init(String(decoding: position, as: UTF8.self)) }

    public var position: [UInt8] { Array(text.utf8) }
}

extension Parameters {
    /// The last key of the page before: `after`, as a page's `next` gave it.
    public func after<Key: ListKey>(_ type: Key.Type) throws(Failure) -> Key? {
        guard let value = self["after"] else { return nil }
        guard let key = Base64URL.decode(value).flatMap(Key.init(position:)) else {
            throw .invalid("?after", "is not the next of a page of this list")
        }
        return key
    }
}

extension Response {
    /// A page of a list by key; there is one row more than the limit when the list goes on.
    public static func page<T>(
        _ rows: [T], limit: Int, by key: (T) -> some ListKey, _ write: (T, inout JSONWriter) -> Void
    ) -> Response {
        let items = Array(rows.prefix(limit))
        let next = rows.count > limit ? items.last.map { Base64URL.encode(key($0).position) } : nil
        return page(items, next: next, write)
    }
}
