public import Domain
public import HTTP
public import Wire

/// Reads a JSON object into a value that cannot be wrong, collecting every fault with its JSON pointer.
///
/// A reader whose field is at fault goes on with a stand-in value; `Request.parse` throws all faults together afterwards,
/// so that no stand-in is ever seen. Fields that nobody read are faults too.
public struct Fields {
    public private(set) var faults: [FieldFault] = []
    private let object: JSON.Object
    private let pointer: String
    /// Names that were asked for.
    private var known: [ByteKey] = []

    init(_ object: JSON.Object, at pointer: String = "") {
        self.object = object
        self.pointer = pointer
    }

    /// Notes that a field is wrong in a way only its reader can tell; `name` may go on into a list: `scopes/0`.
    public mutating func fault(_ name: String, _ detail: String) {
        faults.append(FieldFault(pointer: "\(pointer)/\(name)", detail: detail))
    }

    /// A required string of `length` Unicode scalars without control characters.
    public mutating func text(_ name: String, _ length: ClosedRange<Int>) -> String {
        required(name, "") { $0.optionalText(name, length) }
    }

    public mutating func optionalText(_ name: String, _ length: ClosedRange<Int>) -> String? {
        take(name, "must be a string") { fields, value in
            guard let text = value.text else { return nil }
            let scalars = text.unicodeScalars
            if !length.contains(scalars.count) {
                fields.fault(name, "must have \(length.lowerBound) to \(length.upperBound) characters")
            } else if scalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                fields.fault(name, "must not hold control characters")
            }
            return text
        }
    }

    /// A required member of a closed list.
    public mutating func choice<C: CaseIterable & RawRepresentable<String>>(_ name: String, of type: C.Type) -> C? {
        guard object[name] != nil else {
            fault(name, "is missing")
            return nil
        }
        return optionalChoice(name, of: type)
    }

    public mutating func optionalChoice<C: CaseIterable & RawRepresentable<String>>(
        _ name: String, of type: C.Type
    ) -> C? {
        take(name, "must be one of " + C.allCases.map(\.rawValue).joined(separator: ", ")) { _, value in
            value.text.flatMap(C.init(rawValue:))
        }
    }

    public mutating func flag(_ name: String) -> Bool? {
        take(name, "must be true or false") { _, value in value.flag }
    }

    public mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64 {
        required(name, range.lowerBound) { $0.optionalInteger(name, in: range) }
    }

    public mutating func optionalInteger(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        take(name, "must be an integer from \(range.lowerBound) to \(range.upperBound)") { _, value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    public mutating func id<Subject>(_ name: String) -> ID<Subject> {
        let found: ID<Subject>? =
            object[name] == nil
            ? nil
            : take(name, "must be a UUID") { _, value in
                value.text.flatMap { ID($0) }
            }
        if object[name] == nil { fault(name, "is missing") }
        return found ?? ID(UUID(high: 0, low: 0))
    }

    public mutating func instant(_ name: String) -> Instant? {
        take(name, "must be a time (RFC 3339)") { _, value in value.text.flatMap(Instant.init(rfc3339:)) }
    }

    /// Required base64 with padding of `length` bytes.
    public mutating func bytes(_ name: String, _ length: ClosedRange<Int>) -> [UInt8] {
        required(name, []) { fields in
            fields.take(name, "must be base64 with padding") { fields, value in
                guard let bytes = value.text.flatMap(Base64.decode) else { return nil }
                if !length.contains(bytes.count) {
                    let size =
                        length.count == 1 ? "\(length.lowerBound)" : "\(length.lowerBound) to \(length.upperBound)"
                    fields.fault(name, "must hold \(size) bytes")
                }
                return bytes
            }
        }
    }

    /// A list of strings, each read by `element`, which returns `nil` for what is wrong.
    public mutating func optionalStrings(
        _ name: String, count: ClosedRange<Int>, _ detail: String, _ element: (String) -> Bool = { _ in true }
    ) -> [String]? {
        take(name, "must be a list of strings") { fields, value in
            guard let items = value.items else { return nil }
            let texts = items.compactMap(\.text)
            guard texts.count == items.count else { return nil }
            if !count.contains(texts.count) {
                fields.fault(name, "must have \(count.lowerBound) to \(count.upperBound) items")
            }
            for (index, text) in texts.enumerated() where !element(text) {
                fields.fault("\(name)/\(index)", detail)
            }
            return texts
        }
    }

    /// A required list of objects, each read by `element`.
    public mutating func list<T>(
        _ name: String, count: ClosedRange<Int>, _ element: (inout Fields) -> T
    ) -> [T] {
        required(name, []) { $0.optionalList(name, count: count, element) }
    }

    public mutating func optionalList<T>(
        _ name: String, count: ClosedRange<Int>, _ element: (inout Fields) -> T
    ) -> [T]? {
        take(name, "must be a list of objects") { fields, value in
            guard let items = value.items else { return nil }
            guard count.contains(items.count) else {
                fields.fault(name, "must have \(count.lowerBound) to \(count.upperBound) items")
                return []
            }
            var read: [T] = []
            for (index, item) in items.enumerated() {
                guard let object = item.fields else {
                    fields.fault("\(name)/\(index)", "must be an object")
                    continue
                }
                var inner = Fields(object, at: "\(fields.pointer)/\(name)/\(index)")
                read.append(element(&inner))
                fields.faults += inner.finished()
            }
            return read
        }
    }

    /// A required JSON object, as it is.
    public mutating func object(_ name: String) -> JSON.Object {
        required(name, JSON.Object()) { fields in
            fields.take(name, "must be an object") { _, value in value.fields }
        }
    }

    mutating func finished() -> [FieldFault] {
        // By their bytes: to `String` the Kelvin sign is a K, and a field that nobody reads would pass for one that was.
        let unread = object.keys.filter { key in !known.contains(ByteKey(key)) }
        for name in unread.sorted() { fault(Self.escaped(name), "is not a field of this request") }
        return faults
    }

    private mutating func required<T>(_ name: String, _ standIn: T, _ read: (inout Fields) -> T?) -> T {
        guard object[name] != nil else {
            fault(name, "is missing")
            return standIn
        }
        return read(&self) ?? standIn
    }

    private mutating func take<T>(
        _ name: String, _ detail: @autoclosure () -> String, _ read: (inout Fields, JSON) -> T?
    ) -> T? {
        guard let value = object[name] else { return nil }
        known.append(ByteKey(name))
        let before = faults.count
        if let read = read(&self, value) { return read }
        if faults.count == before { fault(name, detail()) }
        return nil
    }

    /// A client's name as one token of a JSON pointer (RFC 6901 §3).
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Request {
    /// The body as a JSON object, read to its end: unknown fields are faults.
    public func parse<T>(_ read: (inout Fields) -> T) throws(Failure) -> T {
        let json: JSON
        do throws(JSON.Fault) {
            json = try JSON.parse(body)
        } catch {
            throw .invalid("", "is not JSON: \(error.reason) at byte \(error.offset)")
        }
        guard let object = json.fields else { throw .invalid("", "must be a JSON object") }
        var fields = Fields(object)
        let value = read(&fields)
        let faults = fields.finished()
        guard faults.isEmpty else { throw .invalid(faults) }
        return value
    }
}
