/// A JSON value (RFC 8259).
///
/// Equality and hashes compare texts byte by byte, numbers as they were written (`1` is not `1.0`), and objects
/// without regard to the order of their keys.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(Number)
    case string(String)
    case array([JSON])
    case object(Object)

    /// The bytes without white space, keys in their own order.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.finish()
    }

    /// The bytes to take digests of: as `encoded()`, with the keys of every object sorted by their UTF-8 bytes.
    public func canonical() -> [UInt8] {
        sorted.encoded()
    }

    private var sorted: JSON {
        switch self {
        case .null, .bool, .number, .string:
            return self
        case .array(let items):
            return .array(items.map(\.sorted))
        case .object(let object):
            let pairs = object.map { (key: $0.key, value: $0.value.sorted) }
            return .object(Object(pairs.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }))
        }
    }
}

// What a value holds, when it is of that kind.
extension JSON {
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    public var flag: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var text: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number, when it was written without fraction and exponent and fits 64 bits.
    public var integer: Int64? {
        if case .number(let value) = self { value.integer } else { nil }
    }

    public var double: Double? {
        if case .number(let value) = self { value.double } else { nil }
    }

    public var items: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    public var fields: Object? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an object; nil when there is none, or this is not an object.
    public subscript(key: String) -> JSON? {
        fields?[key]
    }
}

extension JSON: Hashable {
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): sameBytes(one, other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ByteKey(value))
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .number(Number(value)) }
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Object(elements.map { (key: $0.0, value: $0.1) }))
    }
}

extension JSON: CustomStringConvertible {
    public var description: String { String(decoding: encoded(), as: UTF8.self) }
}

extension JSON {
    /// A number, kept as it was written so that no digit is lost.
    public struct Number: Hashable, Sendable {
        /// The JSON spelling; minus zero written as an integer is `0`.
        public let text: String

        public init(_ value: Int64) {
            text = String(value)
        }

        /// A finite number in its shortest spelling; nil for infinities and NaN.
        public init?(_ value: Double) {
            guard value.isFinite else { return nil }
            text = "\(value)"
        }

        /// Takes a spelling that the parser has checked.
        init(checked text: String) {
            self.text = text == "-0" ? "0" : text
        }

        /// The value, when written without fraction and exponent and held by 64 bits.
        public var integer: Int64? { Int64(text) }

        /// The nearest value a double can hold.
        public var double: Double { Double(text) ?? 0 }
    }
}

/// A text that is equal to, and hashes as, its bytes.
public struct ByteKey: Hashable, Sendable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func == (left: ByteKey, right: ByteKey) -> Bool { sameBytes(left.text, right.text) }

    public func hash(into hasher: inout Hasher) {
        let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        // A text that lies in pieces: what they are must not matter.
        if hashed == nil { Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}
