/// What a route takes as a body.
public enum BodyRule: Sendable {
    case none
    /// At most `bytes`, of one of these media types (any when the list is empty).
    case limited(bytes: Int, mediaTypes: [String])
}

/// One method on one path pattern.
public struct Route: Sendable {
    public var method: Method
    /// Segments are literals or `{parameter}`: `/v1/devices/{device}`.
    public var pattern: String
    public var body: BodyRule
    /// Media types of the answer, compared with `Accept`; empty when nothing is promised.
    public var produces: [String]

    public init(_ method: Method, _ pattern: String, body: BodyRule = .none, produces: [String] = []) {
        self.method = method
        self.pattern = pattern
        self.body = body
        self.produces = produces
    }

    /// Event streams are still served while draining, so that their clients hear a farewell instead of an error.
    var isStream: Bool { produces.contains("text/event-stream") }
}

/// Why a list of routes is refused at start.
public enum RouterFault: Error, Sendable, Equatable, CustomStringConvertible {
    case malformedPattern(String)
    case duplicateParameter(String)
    /// Two patterns of one method that some path would match both.
    case overlap(Method, String, String)
    /// HEAD and OPTIONS are answered by the server.
    case reservedMethod(Method, String)

    public var description: String {
        switch self {
        case .malformedPattern(let pattern): "malformed route pattern \(pattern)"
        case .duplicateParameter(let pattern): "route pattern names a parameter twice: \(pattern)"
        case .overlap(let method, let first, let second): "\(method.rawValue) \(first) and \(second) overlap"
        case .reservedMethod(let method, let pattern): "\(method.rawValue) \(pattern) cannot be routed"
        }
    }
}

/// A pattern taken apart.
struct Pattern: Sendable {
    enum Segment: Sendable, Equatable {
        case literal(String)
        case parameter(String)
    }

    let segments: [Segment]

    var hasParameters: Bool {
        segments.contains { segment in
            if case .parameter = segment { return true }
            return false
        }
    }

    init(_ text: String) throws(RouterFault) {
        guard text.utf8.first == 0x2F else { throw .malformedPattern(text) }
        guard text != "/" else {
            segments = []
            return
        }
        var segments: [Segment] = []
        var names: Set<String> = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = Pattern.segment(String(part)) else { throw .malformedPattern(text) }
            if case .parameter(let name) = segment, !names.insert(name).inserted { throw .duplicateParameter(text) }
            segments.append(segment)
        }
        self.segments = segments
    }

    private static func segment(_ part: String) -> Segment? {
        let bytes = Array(part.utf8)
        if bytes.first == 0x7B, bytes.last == 0x7D, bytes.count > 2 {
            let name = bytes[1..<(bytes.count - 1)]
            let isName = name.allSatisfy { Text.isDigit($0) || $0 == 0x5F || Text.lowered($0) &- 0x61 < 26 }
            return isName ? .parameter(String(decoding: name, as: UTF8.self)) : nil
        }
        let isLiteral = bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x7B && $0 != 0x7D && $0 != 0x25 }
        guard isLiteral, !bytes.isEmpty, part != ".", part != ".." else { return nil }
        return .literal(part)
    }

    func overlaps(_ other: Pattern) -> Bool {
        guard segments.count == other.segments.count else { return false }
        return zip(segments, other.segments).allSatisfy { left, right in
            guard case .literal(let left) = left, case .literal(let right) = right else { return true }
            return left == right
        }
    }
}
