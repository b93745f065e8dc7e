import Lanes
import TestKit

/// What a database holds, as a digest of each table's rows.
///
/// Left out is what the server changes by itself: the audit log's order, given a moment after the entries, and codes, which
/// are swept away when they are stale.
struct Snapshot: Equatable, CustomStringConvertible {
    private let digests: [String: String]

    static func of(_ server: any Site) async throws -> Snapshot {
        let query = """
            SELECT table_name, md5(query_to_xml(
                format('SELECT * FROM %I AS t ORDER BY t::text', table_name), true, false, '')::text)
            FROM information_schema.tables
            WHERE table_schema = 'public' AND table_name NOT IN ('audit_pending', 'audit_leaf', 'authorization_code')
            """
        let rows = try await server.sql(query).split(separator: "\n").map { $0.split(separator: "|") }
        let pairs = rows.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }
        return Snapshot(digests: Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
    }

    private init(digests: [String: String]) { self.digests = digests }

    /// The tables that are not the same.
    func changes(since before: Snapshot) -> [String] {
        digests.keys.filter { digests[$0] != before.digests[$0] }.sorted()
    }

    var description: String { "\(digests.count) tables" }
}

private let lane = Lane(name: "psql")

extension Site {
    /// The rows of a statement, unaligned.
    func sql(_ text: String, as role: PostgresCluster.Role = .superuser) async throws -> String {
        let database = database
        return try await lane.run { () throws -> String in
            try PostgresCluster.shared.psql(text, database: database, role: role)
        }
    }
}
