import Domain
import Wire

/// Values that may be published: every key has a name one can read, no value is null, and they are small enough.
struct Values: Sendable {
    static let mostKeys = 10_000
    static let longestKey = 128

    let object: JSON.Object
    let encoded: [UInt8]

    /// The encoded values may have `limit` bytes.
    init(_ object: JSON.Object, limit: Int) throws(Failure) {
        guard object.count <= Self.mostKeys else {
            throw .invalid("/values", "must have at most \(Self.mostKeys) keys")
        }
        let faults = object.compactMap { member in Self.fault(in: member.key, member.value) }
        guard faults.isEmpty else { throw .invalid(faults) }
        encoded = JSON.object(object).encoded()
        guard encoded.count <= limit else {
            throw .tooLarge("The values are over the limit for the configuration of an app.")
        }
        self.object = object
    }

    private static func fault(in key: String, _ value: JSON) -> FieldFault? {
        let scalars = key.unicodeScalars
        if !(1...longestKey).contains(scalars.count) {
            return FieldFault(pointer: "/values", detail: "has a key that is not 1 to \(longestKey) characters long")
        }
        if scalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            return FieldFault(pointer: "/values", detail: "has a key with control characters")
        }
        guard value.isNull else { return nil }
        return FieldFault(pointer: "/values/" + escaped(key), detail: "is null: leave the key out to unset it")
    }

    /// A key as one token of a JSON pointer (RFC 6901 §3).
    private static func escaped(_ key: String) -> String {
        var text = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// What happens to one key between two states; an absent side is `nil`.
struct Change: Sendable, Equatable {
    let key: String
    let before: JSON?
    let after: JSON?

    private var name: String { before == nil ? "added" : after == nil ? "removed" : "changed" }

    /// The keys whose values differ, in the order of their UTF-8 bytes.
    static func between(_ old: JSON.Object, _ new: JSON.Object) -> [Change] {
        let removed = old.filter { new[$0.key] == nil }.map { Change(key: $0.key, before: $0.value, after: nil) }
        let rest = new.compactMap { member -> Change? in
            let before = old[member.key]
            guard before != member.value else { return nil }
            return Change(key: member.key, before: before, after: member.value)
        }
        return (removed + rest).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Publishing writes the names of what changed into the audit log, never the values; of many the first hundred.
    static func facts(_ changes: [Change], revision: Int64) -> JSON.Object {
        [
            "revision": .number(JSON.Number(revision)),
            "keyCount": .number(JSON.Number(Int64(changes.count))),
            "keys": .array(changes.prefix(100).map { .string($0.key) }),
        ]
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("key", key)
        writer.field("change", name)
        if let before {
            writer.key("before")
            writer.value(before)
        }
        if let after {
            writer.key("after")
            writer.value(after)
        }
        writer.endObject()
    }
}
