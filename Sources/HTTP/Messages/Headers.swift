/// Header fields in the order they arrived; names are compared without case.
package struct Headers: Sendable {
    package private(set) var fields: [(name: String, value: String)] = []

    package init() {}

    package init(_ fields: [(name: String, value: String)]) {
        self.fields = fields
    }

    /// The first value under this name.
    package subscript(_ name: String) -> String? {
        fields.first { Text.equalIgnoringCase($0.name, name) }?.value
    }

    /// Every value under this name, in order.
    package func values(_ name: String) -> [String] {
        fields.filter { Text.equalIgnoringCase($0.name, name) }.map(\.value)
    }

    package mutating func add(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    package mutating func remove(_ name: String) {
        fields.removeAll { Text.equalIgnoringCase($0.name, name) }
    }
}
