import Wire

/// How PostgreSQL answered one statement, as auto_explain tells it.
struct Plan {
    let query: String
    let scans: [Scan]

    /// One visit of a table or index.
    struct Scan {
        let kind: String
        let place: String
        /// Read in all, also what a filter then dropped.
        let rows: Int
    }

    /// Every plan in a log of PostgreSQL: JSON on lines that begin with a tab, behind one that ends in `plan:`.
    static func all(in log: String) -> [Plan] {
        var plans: [Plan] = []
        var text: String?
        for line in log.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("\t") {
                text? += line.dropFirst() + "\n"
                continue
            }
            if let text, let plan = Plan(text) { plans.append(plan) }
            text = line.hasSuffix("plan:") ? "" : nil
        }
        return plans
    }

    private init?(_ text: String) {
        guard let json = try? JSON.parse(Array(text.utf8), maximumDepth: 100), let query = json["Query Text"]?.text,
            let root = json["Plan"]
        else { return nil }
        self.query = query
        var scans: [Scan] = []
        Self.collect(root, into: &scans)
        self.scans = scans
    }

    private static func collect(_ node: JSON, into scans: inout [Scan]) {
        let kind = node["Node Type"]?.text ?? ""
        if let place = node["Relation Name"]?.text ?? node["Index Name"]?.text, kind.hasSuffix("Scan") {
            let counts = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"]
            let rows = counts.reduce(0.0) { $0 + (node[$1]?.double ?? 0) } * (node["Actual Loops"]?.double ?? 1)
            scans.append(Scan(kind: kind, place: place, rows: Int(rows)))
        }
        for child in node["Plans"]?.items ?? [] { collect(child, into: &scans) }
    }
}
