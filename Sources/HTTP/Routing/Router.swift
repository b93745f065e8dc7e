import Wire

/// The table of routes: from method and raw path to a handler.
public struct Router: Sendable {
    /// What a path leads to.
    enum Match: Sendable {
        case found(Int, parameters: [(name: String, value: String)])
        case missing
        case notAllowed([Method])
        case malformed
    }

    /// A class, since every request takes one out of the table.
    final class Entry: Sendable {
        let route: Route
        let pattern: Pattern
        let handler: any Handler

        init(route: Route, pattern: Pattern, handler: any Handler) {
            self.route = route
            self.pattern = pattern
            self.handler = handler
        }
    }

    /// A piece of a path as it was sent, and what it means as a parameter.
    private struct Segment {
        let raw: String
        let decoded: String
    }

    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var entries: [Int] = []
    }

    let entries: [Entry]
    private var nodes = [Node()]
    /// Routes without parameters, by their path.
    private var plain: [String: [Int]] = [:]

    /// Every method and pattern, in the order given; GET routes also serve HEAD.
    public var table: [(Method, String)] {
        entries.map { ($0.route.method, $0.route.pattern) }
    }

    public init(_ routes: [(Route, any Handler)]) throws(RouterFault) {
        var entries: [Entry] = []
        for (route, handler) in routes {
            let pattern = try Pattern(route.pattern)
            guard route.method != .head, route.method != .options else {
                throw .reservedMethod(route.method, route.pattern)
            }
            for other in entries where other.route.method == route.method && other.pattern.overlaps(pattern) {
                throw .overlap(route.method, other.route.pattern, route.pattern)
            }
            entries.append(Entry(route: route, pattern: pattern, handler: handler))
        }
        self.entries = entries
        for (index, entry) in entries.enumerated() {
            insert(entry.pattern, index)
            if !entry.pattern.hasParameters { plain[entry.route.pattern, default: []].append(index) }
        }
    }

    private mutating func insert(_ pattern: Pattern, _ index: Int) {
        var at = 0
        for segment in pattern.segments {
            let next = child(of: at, segment) ?? nodes.count
            if next == nodes.count {
                nodes.append(Node())
                switch segment {
                case .literal(let text): nodes[at].literals[text] = next
                case .parameter: nodes[at].parameter = next
                }
            }
            at = next
        }
        nodes[at].entries.append(index)
    }

    private func child(of node: Int, _ segment: Pattern.Segment) -> Int? {
        switch segment {
        case .literal(let text): nodes[node].literals[text]
        case .parameter: nodes[node].parameter
        }
    }

    /// Finds the route of a raw path, which is split before anything in it is decoded.
    func match(_ method: Method, _ rawPath: String) -> Match {
        // Most requests; no two patterns of a method overlap, so that there is nothing else to be found.
        if let index = index(of: method, in: plain[rawPath] ?? []) { return .found(index, parameters: []) }
        guard let segments = Router.split(rawPath) else { return .malformed }
        let reached = terminals(segments)
        guard !reached.isEmpty else { return .missing }
        guard let index = index(of: method, in: reached) else { return .notAllowed(allowed(reached)) }
        var parameters: [(name: String, value: String)] = []
        for (segment, value) in zip(entries[index].pattern.segments, segments) {
            if case .parameter(let name) = segment { parameters.append((name, value.decoded)) }
        }
        return .found(index, parameters: parameters)
    }

    private func index(of method: Method, in reached: [Int]) -> Int? {
        let wanted = method == .head ? .get : method
        return reached.first { entries[$0].route.method == wanted }
    }

    /// Methods for `OPTIONS *`.
    var allMethods: [Method] { allowed(Array(entries.indices)) }

    private func allowed(_ reached: [Int]) -> [Method] {
        let methods = Set(reached.map { entries[$0].route.method })
        return Method.allCases.filter { $0 == .options || methods.contains($0 == .head ? .get : $0) }
    }

    /// Literals are compared as they were sent: who filters by path in front of the server sees what it acts on.
    private func terminals(_ segments: [Segment]) -> [Int] {
        var frontier = [0]
        for segment in segments {
            var next: [Int] = []
            for node in frontier {
                if let literal = nodes[node].literals[segment.raw] { next.append(literal) }
                if let parameter = nodes[node].parameter, Router.mayBeParameter(segment.decoded) {
                    next.append(parameter)
                }
            }
            guard !next.isEmpty else { return [] }
            frontier = next
        }
        return frontier.flatMap { nodes[$0].entries }
    }

    /// Empty and dot segments never name anything, whatever a proxy in front made of them.
    private static func mayBeParameter(_ segment: String) -> Bool {
        !segment.isEmpty && segment != "." && segment != ".."
    }

    /// The segments; nil when an escape is bad, hides a NUL, or decodes to no UTF-8.
    private static func split(_ rawPath: String) -> [Segment]? {
        guard rawPath != "/" else { return [] }
        var segments: [Segment] = []
        for part in rawPath.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false) {
            let raw = String(Substring(part))
            guard part.contains(0x25) else {
                segments.append(Segment(raw: raw, decoded: raw))
                continue
            }
            guard let decoded = PercentCoding.decode(raw) else { return nil }
            segments.append(Segment(raw: raw, decoded: decoded))
        }
        return segments
    }
}
