public import Domain
public import HTTP
public import Wire

// Typed parameters of the path and the query.

extension Request {
    /// A UUID in the path.
    ///
    /// Anything else cannot exist, so it is simply not found.
    public func id<Subject>(_ name: String, _ what: StaticString) throws(Failure) -> ID<Subject> {
        guard let id: ID<Subject> = head.parameter(name).flatMap({ ID($0) }) else { throw .missing(what) }
        return id
    }

    public func app(_ name: String = "app") throws(Failure) -> AppID {
        guard let id = head.parameter(name).flatMap(AppID.init) else { throw .missing("There is no such app.") }
        return id
    }

    /// Refuses query parameters that the endpoint does not have, and repeated ones.
    public func parameters(_ names: String...) throws(Failure) -> Parameters {
        var values: [String: String] = [:]
        var faults: [FieldFault] = []
        for (name, value) in head.query {
            if !names.contains(name) {
                faults.append(FieldFault(pointer: "?\(name)", detail: "is not a parameter of this request"))
            } else if values.updateValue(value, forKey: name) != nil {
                faults.append(FieldFault(pointer: "?\(name)", detail: "is given twice"))
            }
        }
        guard faults.isEmpty else { throw .invalid(faults) }
        return Parameters(values: values)
    }
}

extension Int64 {
    /// 1 to 16 plain digits, which is what numbers under 2^53 need; more would be zeros that stand for nothing.
    public init?(decimal text: some StringProtocol) {
        guard (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self.init(text)
    }
}

/// The query's parameters, each at most once.
public struct Parameters: Sendable {
    let values: [String: String]

    public subscript(name: String) -> String? { values[name] }

    /// Text that PostgreSQL can compare: no NUL, at most 256 bytes.
    public func text(_ name: String) throws(Failure) -> String? {
        guard let value = values[name] else { return nil }
        guard (1...256).contains(value.utf8.count), !value.utf8.contains(0) else {
            throw .invalid("?\(name)", "must have 1 to 256 bytes")
        }
        return value
    }

    public func integer(_ name: String, in range: ClosedRange<Int64>) throws(Failure) -> Int64? {
        guard let value = values[name] else { return nil }
        guard let number = Int64(decimal: value), range.contains(number) else {
            throw .invalid("?\(name)", "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    public func flag(_ name: String) throws(Failure) -> Bool {
        switch values[name] {
        case nil, "false": return false
        case "true": return true
        default: throw .invalid("?\(name)", "must be true or false")
        }
    }

    public func instant(_ name: String) throws(Failure) -> Instant? {
        guard let value = values[name] else { return nil }
        guard let instant = Instant(rfc3339: value) else { throw .invalid("?\(name)", "must be a time (RFC 3339)") }
        return instant
    }

    public func choice<C: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: C.Type
    ) throws(Failure) -> C? {
        guard let value = values[name] else { return nil }
        guard let choice = C(rawValue: value) else {
            throw .invalid("?\(name)", "must be one of " + C.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// The size of a page: 50 unless asked otherwise, 200 at most.
    public func limit() throws(Failure) -> Int { Int(try integer("limit", in: 1...200) ?? 50) }
}
