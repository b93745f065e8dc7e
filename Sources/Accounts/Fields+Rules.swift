import API

extension Fields {
    /// A required string that also follows a rule.
    mutating func text(
        _ name: String, _ length: ClosedRange<Int>, _ detail: String, _ rule: (String) -> Bool
    ) -> String {
        let before = faults.count
        let text = text(name, length)
        if faults.count == before, !rule(text) { fault(name, detail) }
        return text
    }

    /// A string that also follows a rule, when there is one.
    mutating func optionalText(
        _ name: String, _ length: ClosedRange<Int>, _ detail: String, _ rule: (String) -> Bool
    ) -> String? {
        let before = faults.count
        guard let text = optionalText(name, length) else { return nil }
        if faults.count == before, !rule(text) { fault(name, detail) }
        return text
    }

    /// A list of different strings, each of which follows a rule.
    mutating func optionalSet(
        _ name: String, atMost count: Int, _ detail: String, _ rule: (String) -> Bool
    ) -> [String]? {
        guard let texts = optionalStrings(name, count: 0...count, detail, rule) else { return nil }
        var seen: Set<String> = []
        for (index, text) in texts.enumerated() where !seen.insert(text).inserted {
            fault("\(name)/\(index)", "is in the list already")
        }
        return texts
    }

    /// A required list of different strings, each of which follows a rule.
    mutating func set(
        _ name: String, atMost count: Int, _ detail: String, _ rule: (String) -> Bool
    ) -> [String] {
        let before = faults.count
        let texts = optionalSet(name, atMost: count, detail, rule)
        if texts == nil, faults.count == before { fault(name, "is missing") }
        return texts ?? []
    }

    /// A password somebody chooses: long enough, and short enough to hash.
    mutating func optionalPassword() -> String? { optionalText("password", 8...1024) }
}
