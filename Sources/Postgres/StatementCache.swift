/// The prepared statements of one connection: the most recently used ones up to a limit.
struct StatementCache {
    final class Statement {
        let name: String
        fileprivate var lastUse: UInt64 = 0
        /// Known to the server; false until it has answered the first use.
        var isPrepared = false

        fileprivate init(name: String) {
            self.name = name
        }
    }

    private struct Key: Hashable {
        let text: [UInt8]
        let binds: [SQL.Bind]

        static func == (left: Key, right: Key) -> Bool {
            left.text == right.text && left.binds.elementsEqual(right.binds) { $0.type == $1.type }
        }

        func hash(into hasher: inout Hasher) {
            text.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private let limit: Int
    private var statements: [Key: Statement] = [:]
    private var uses: UInt64 = 0
    private var made = 0

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { statements.count }

    /// The statement for a text and its types, and the one that had to make room for it.
    mutating func statement(for sql: SQL) -> (statement: Statement, evicted: Statement?) {
        uses += 1
        let key = Key(text: sql.bytes, binds: sql.binds)
        if let statement = statements[key] {
            statement.lastUse = uses
            return (statement, nil)
        }
        let evicted = statements.count < limit ? nil : removeOldest()
        made += 1
        let statement = Statement(name: "s\(made)")
        statement.lastUse = uses
        // The bound values must not stay in memory with the key.
        let binds = sql.binds.map { SQL.Bind(type: $0.type, position: 0, offset: 0, length: 0) }
        statements[Key(text: sql.bytes, binds: binds)] = statement
        return (statement, evicted)
    }

    mutating func remove(_ statement: Statement) {
        guard let entry = statements.first(where: { $0.value === statement }) else { return }
        statements.removeValue(forKey: entry.key)
    }

    private mutating func removeOldest() -> Statement? {
        guard let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return nil }
        return statements.removeValue(forKey: oldest.key)
    }
}
