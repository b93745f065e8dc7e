/// Comparing media types: `Accept` with what a route produces, `Content-Type` with what it takes.
enum MediaType {
    /// Whether any of `produces` is acceptable (RFC 9110 §12.5.1: the most specific range decides, `q=0` refuses).
    static func accepts(_ accept: [String], produces: [String]) -> Bool {
        guard !produces.isEmpty else { return true }
        // What most clients send needs no taking apart.
        if accept.isEmpty || accept.count == 1 && (accept[0] == "*/*" || produces.contains(accept[0])) { return true }
        let ranges = accept.flatMap(Text.members).map(Range.init)
        guard !ranges.isEmpty else { return true }
        return produces.contains { offered in
            let matching = ranges.filter { $0.matches(offered) }
            guard let best = matching.map(\.precision).max() else { return false }
            return matching.contains { $0.precision == best && !$0.isRefused }
        }
    }

    /// Whether a `Content-Type` names one of `types`, and no character set but UTF-8.
    static func isOne(_ contentType: String?, of types: [String]) -> Bool {
        guard !types.isEmpty else { return true }
        guard let contentType else { return false }
        let parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map(Text.trimmed)
        guard let essence = parts.first, types.contains(where: { Text.equalIgnoringCase($0, String(essence)) }) else {
            return false
        }
        return parts.dropFirst().allSatisfy { parameter in
            let lowered = String(decoding: parameter.utf8.map(Text.lowered), as: UTF8.self)
            guard lowered.hasPrefix("charset=") else { return true }
            return lowered == "charset=utf-8" || lowered == "charset=\"utf-8\""
        }
    }

    /// One member of an `Accept` list.
    private struct Range {
        let essence: String
        let isRefused: Bool

        init(_ member: Substring) {
            let parts = member.split(separator: ";", omittingEmptySubsequences: false).map(Text.trimmed)
            essence = String(decoding: (parts.first ?? "").utf8.map(Text.lowered), as: UTF8.self)
            isRefused = parts.dropFirst().contains { part in
                guard part.lowercased().hasPrefix("q=0") else { return false }
                return part.utf8.dropFirst(3).allSatisfy { $0 == 0x30 || $0 == 0x2E }
            }
        }

        var precision: Int {
            if essence == "*/*" { return 0 }
            return essence.hasSuffix("/*") ? 1 : 2
        }

        func matches(_ offered: String) -> Bool {
            switch precision {
            case 0: true
            case 1: offered.hasPrefix(essence.dropLast())
            default: essence == offered
            }
        }
    }
}
