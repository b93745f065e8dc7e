/// Header fields in the order they arrived; names are compared without case.
public struct Headers: Sendable {
    public private(set) var fields: [(name: String, value: String)] = []

    public init() {}

    public init(_ fields: [(name: String, value: String)]) {
        self.fields = fields
    }

    /// The first value under this name.
    public subscript(_ name: String) -> String? {
        for index in fields.indices where Text.equalIgnoringCase(fields[index].name, name) {
            return fields[index].value
        }
        return nil
    }

    /// Every value under this name, in order.
    public func values(_ name: String) -> [String] {
        var values: [String] = []
        for index in fields.indices where Text.equalIgnoringCase(fields[index].name, name) {
            values.append(fields[index].value)
        }
        return values
    }

    public mutating func add(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    public mutating func remove(_ name: String) {
        fields.removeAll { Text.equalIgnoringCase($0.name, name) }
    }
}
