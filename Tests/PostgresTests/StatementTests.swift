import Postgres
import TestKit
import Testing

extension PostgresRoom {
    @Suite struct StatementTests {
        private static let schema = """
            CREATE TABLE account (id int8 CONSTRAINT account_key PRIMARY KEY, name text CONSTRAINT account_name UNIQUE);
            CREATE TABLE device (
                id int8 PRIMARY KEY, account int8 CONSTRAINT device_account REFERENCES account);
            """

        private func withTables(
            statements: Int = 256, _ body: (Pool) async throws -> Void
        ) async throws {
            try await withPool(lanes: 1, adjust: { $0.statements = statements }) { pool, _ in
                try await lend(pool) { connection throws(PostgresError) in try connection.script(Self.schema) }
                try await body(pool)
            }
        }

        @Test func `writes say how many rows they touched`() async throws {
            try await withTables { pool in
                let counts = try await lend(pool) { connection throws(PostgresError) in
                    [
                        try connection.execute("INSERT INTO account VALUES (1, \("a")), (2, \("b"))"),
                        try connection.execute("UPDATE account SET name = name WHERE id > \(0)"),
                        try connection.execute("DELETE FROM account WHERE id = \(7)"),
                        try connection.execute(""),
                    ]
                }
                #expect(counts == [2, 2, 0, 0])
            }
        }

        @Test func `first is nil without rows`() async throws {
            try await withTables { pool in
                let name = try await lend(pool) { connection throws(PostgresError) in
                    try connection.first("SELECT name FROM account WHERE id = \(1)") {
                        row throws(PostgresError) -> String in
                        try row[0]
                    }
                }
                #expect(name == nil)
            }
        }

        @Test func `a unique violation names its constraint and table, and no value`() async throws {
            try await withTables { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("INSERT INTO account VALUES (\(1), \("secret"))")
                        try connection.execute("INSERT INTO account VALUES (\(2), \("secret"))")
                    }
                }
                #expect(error?.isUniqueViolation("account_name") == true)
                #expect(error?.isUniqueViolation("account_key") == false)
                #expect(error?.fault?.table == "account")
                #expect(error?.isRetryable == false)
                #expect(error?.description == "PostgreSQL refused the statement: 23505 account account_name")
            }
        }

        @Test func `a foreign key violation names its constraint`() async throws {
            try await withTables { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("INSERT INTO device VALUES (\(1), \(99))")
                    }
                }
                #expect(error?.isForeignKeyViolation("device_account") == true)
            }
        }

        @Test func `a batch reports the rows of each statement`() async throws {
            try await withTables { pool in
                let counts = try await lend(pool) { connection throws(PostgresError) in
                    try connection.batch([
                        "INSERT INTO account VALUES (\(1), \("a"))",
                        "INSERT INTO account VALUES (\(2), \("b"))",
                        "UPDATE account SET name = name || 'x'",
                    ])
                }
                #expect(counts == [1, 1, 2])
            }
        }

        @Test func `a batch reports its first error and keeps nothing`() async throws {
            try await withTables { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.batch([
                            "INSERT INTO account VALUES (\(1), \("a"))",
                            "INSERT INTO account VALUES (\(1), \("b"))",
                            "INSERT INTO nowhere VALUES (1)",
                        ])
                    }
                }
                #expect(error?.isUniqueViolation("account_key") == true)
                let count = try await lend(pool) { connection throws(PostgresError) in
                    try connection.first("SELECT count(*) FROM account") { row throws(PostgresError) -> Int in
                        try row[0]
                    }
                }
                #expect(count == 0)
            }
        }

        @Test func `a batch larger than any buffer does not block`() async throws {
            try await withTables { pool in
                let name = String(repeating: "n", count: 20_000)
                let count = try await lend(pool) { connection throws(PostgresError) in
                    let inserts = (0..<500).map { id -> SQL in
                        "INSERT INTO account VALUES (\(id), \(name) || \(String(id))) RETURNING repeat(name, 3)"
                    }
                    return try connection.batch(inserts).reduce(0, +)
                }
                #expect(count == 500)
            }
        }

        @Test func `a connection keeps only so many prepared statements`() async throws {
            try await withTables(statements: 4) { pool in
                let (count, again) = try await lend(pool) { connection throws(PostgresError) in
                    var sql: SQL = "SELECT 1"
                    for _ in 0..<20 {
                        sql += " + 1"
                        try connection.execute(sql)
                    }
                    let count = try connection.first("SELECT count(*) FROM pg_prepared_statements") {
                        row throws(PostgresError) -> Int in try row[0]
                    }
                    let again = try connection.first(sql) { row throws(PostgresError) -> Int in try row[0] }
                    return (count, again)
                }
                // The one that makes room is still known while the count runs.
                #expect(try #require(count) <= 5)
                #expect(again == 21)
            }
        }

        @Test func `the same text with another type is another statement`() async throws {
            try await withTables { pool in
                let lengths = try await lend(pool) { connection throws(PostgresError) in
                    [
                        try connection.first("SELECT octet_length(\("äb"))") { row throws(PostgresError) -> Int in
                            try row[0]
                        },
                        try connection.first("SELECT octet_length(\([UInt8(1)]))") { row throws(PostgresError) -> Int in
                            try row[0]
                        },
                    ]
                }
                #expect(lengths == [3, 1])
            }
        }

        @Test func `a plan that no longer fits its table is prepared anew`() async throws {
            try await withTables { pool in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("TABLE account")
                    try connection.script("ALTER TABLE account ADD COLUMN more text")
                }
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
                }
                #expect(error?.isRetryable == true)
                try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
            }
        }

        @Test func `statements that the server has forgotten cost one retry`() async throws {
            try await withTables { pool in
                try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("TABLE account")
                    try connection.script("DEALLOCATE ALL")
                }
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
                }
                #expect(error?.isRetryable == true)
                try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
            }
        }

        @Test func `COPY is refused and the lane recovers`() async throws {
            try await withTables { pool in
                for statement in ["COPY account FROM STDIN", "COPY account TO STDOUT"] as [SQL] {
                    await #expect(throws: PostgresError.misuse("COPY is not spoken here")) {
                        try await lend(pool) { connection throws(PostgresError) in try connection.execute(statement) }
                    }
                    try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
                }
            }
        }

        @Test func `more values than the protocol can number are refused and the lane recovers`() async throws {
            try await withTables { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        var sql: SQL = "SELECT 1 IN (0"
                        for number in 0..<65_536 { sql += ", \(number)" }
                        try connection.execute(sql + ")")
                    }
                }
                #expect(error == .misuse("libpq refused the statement"))
                try await lend(pool) { connection throws(PostgresError) in try connection.execute("TABLE account") }
            }
        }

        @Test func `a script runs several statements or, after an error, none`() async throws {
            try await withTables { pool in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.script(
                            "INSERT INTO account VALUES (1, 'a'); INSERT INTO account VALUES (1, 'b')")
                    }
                }
                #expect(error?.isUniqueViolation() == true)
                let count = try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("TABLE account")
                }
                #expect(count == 0)
            }
        }

        @Test func `a session speaks UTC, UTF-8 and has the limits it was given`() async throws {
            let names = [
                "timezone", "client_encoding", "search_path", "statement_timeout", "lock_timeout", "application_name",
            ]
            try await withPool(
                lanes: 1,
                adjust: {
                    $0.statementTimeout = 1_500
                    $0.lockTimeout = 700
                    $0.applicationName = "tests"
                }
            ) { pool, _ in
                let values = try await lend(pool) { connection throws(PostgresError) in
                    try connection.query(
                        "SELECT current_setting(n) FROM unnest(\(names)) WITH ORDINALITY AS u(n, i) ORDER BY i"
                    ) {
                        row throws(PostgresError) -> String in try row[0]
                    }
                }
                #expect(values == ["UTC", "UTF8", "public", "1500ms", "700ms", "tests"])
            }
        }
    }
}
