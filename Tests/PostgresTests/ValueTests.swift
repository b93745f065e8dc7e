import Postgres
import Testing
import Wire

extension PostgresRoom {
    @Suite struct ValueTests {
        private enum Role: String, SQLValue, SQLDecodable, SQLElement, CaseIterable {
            case member, admin
        }

        /// Sends each value, alone and as arrays, and expects it back unchanged.
        private func roundTrip<T: SQLValue & SQLDecodable & SQLElement & Equatable>(
            _ values: [T], as type: SQL
        ) async throws {
            try await withPool(lanes: 1) { pool, _ in
                try await lend(pool) { connection throws(PostgresError) in
                    for value in values {
                        let back: T? = try connection.first("SELECT \(value)::" + type) { row throws(PostgresError) in
                            try row[0]
                        }
                        #expect(back == value)
                        let optional: T?? = try connection.first("SELECT \(Optional(value))::" + type) {
                            row throws(PostgresError) in try row[0]
                        }
                        #expect(optional == value)
                    }
                    let null: T?? = try connection.first("SELECT \(T?.none)::" + type) { row throws(PostgresError) in
                        try row[0]
                    }
                    #expect(null == .some(.none))
                    for array in [values, []] {
                        let back: [T]? = try connection.first("SELECT \(array)::" + type + "[]") {
                            row throws(PostgresError) in try row[0]
                        }
                        #expect(back == array)
                    }
                    let holes: [T?] = [nil] + values.map(Optional.some) + [nil]
                    let back: [T?]? = try connection.first("SELECT \(holes)::" + type + "[]") {
                        row throws(PostgresError) in try row[0]
                    }
                    #expect(back == holes)
                }
            }
        }

        @Test func `truth values round trip`() async throws { try await roundTrip([true, false], as: "bool") }

        @Test func `integers round trip to their extremes`() async throws {
            try await roundTrip([0, 1, -1, Int.max, Int.min], as: "int8")
            try await roundTrip([0, Int64.max, Int64.min], as: "int8")
            try await roundTrip([0, Int32.max, Int32.min], as: "int4")
        }

        @Test func `floating-point numbers round trip`() async throws {
            try await roundTrip([0, -1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity], as: "float8")
        }

        @Test func `text round trips, empty and beyond the basic plane`() async throws {
            try await roundTrip(["", "a", "Grüße 🏛️ \u{10FFFF}", "'\"\\%_{},NULL"], as: "text")
        }

        @Test func `bytes round trip, empty and large`() async throws {
            let all = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
            try await roundTrip([[], [0], all], as: "bytea")
        }

        @Test func `identifiers round trip`() async throws {
            try await roundTrip(
                [UUID(high: 0, low: 0), UUID(high: .max, low: .max), UUID(high: 1, low: 2)], as: "uuid")
        }

        @Test func `instants round trip to the microsecond`() async throws {
            let values = [0, 1, -1, 946_684_800_000_000, 253_402_300_799_999_999, -62_135_596_800_000_000, Int.max]
            try await roundTrip(values.map { Instant(microseconds: Int64($0)) }, as: "timestamptz")
        }

        @Test func `JSON round trips`() async throws {
            try await roundTrip(
                [JSONBytes(Array("{\"a\": [1, null]}".utf8)), JSONBytes(Array("[]".utf8))], as: "jsonb")
        }

        @Test func `a type with a raw value is sent and read as that`() async throws {
            try await roundTrip(Role.allCases, as: "text")
        }

        @Test func `an instant outside PostgreSQL's range is refused by the server`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                for microseconds in [Int64.min, Int64.min + 1, -300_000_000_000_000_000] {
                    let error = await #expect(throws: PostgresError.self) {
                        try await lend(pool) { connection throws(PostgresError) in
                            try connection.execute("SELECT \(Instant(microseconds: microseconds))")
                        }
                    }
                    #expect(error?.sqlstate == "22008")
                }
            }
        }

        @Test func `small integers of the server are read as Int`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let values = try await lend(pool) { connection throws(PostgresError) in
                    try connection.first("SELECT (-2)::int2, 70000::int4, pg_backend_pid(), 16::oid") {
                        row throws(PostgresError) -> [Int] in [try row[0], try row[1], try row[3]]
                    }
                }
                #expect(values == [-2, 70_000, 16])
            }
        }

        private func refuses<T: SQLDecodable & Sendable>(
            _ pool: Pool, _ type: T.Type, from sql: SQL, column: Int = 0
        ) async throws {
            let error = await #expect(throws: PostgresError.self) {
                try await lend(pool) { connection throws(PostgresError) in
                    _ = try connection.first(sql) { row throws(PostgresError) -> T in try row[column] }
                }
            }
            #expect(error == .decoding(column: column), "\(sql.text)")
        }

        @Test func `reading another type than the column's is an error, not a trap`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                try await refuses(pool, Int.self, from: "SELECT 'a'::text")
                try await refuses(pool, Int32.self, from: "SELECT 1::int8")
                try await refuses(pool, String.self, from: "SELECT 1")
                try await refuses(pool, UUID.self, from: "SELECT '\\x00'::bytea")
                try await refuses(pool, [UInt8].self, from: "SELECT 'a'::text")
                try await refuses(pool, [Int].self, from: "SELECT ARRAY['a']")
                try await refuses(pool, [Int].self, from: "SELECT ARRAY[[1,2],[3,4]]")
                try await refuses(pool, [Int].self, from: "SELECT ARRAY[1,NULL]")
                try await refuses(pool, [String].self, from: "SELECT 1")
                try await refuses(pool, [String].self, from: "SELECT decode(repeat('00', 12), 'hex')")
                try await refuses(pool, [Int].self, from: "SELECT '\\x00'::bytea")
                try await refuses(pool, Instant.self, from: "SELECT 'infinity'::timestamptz")
                try await refuses(pool, Instant.self, from: "SELECT '-infinity'::timestamptz")
                try await refuses(pool, JSONBytes.self, from: "SELECT 'a'::text")
                try await refuses(pool, Role.self, from: "SELECT 'owner'::text")
            }
        }

        @Test func `NULL for a value that is not optional is an error`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                try await refuses(pool, Int.self, from: "SELECT NULL::int8")
                try await refuses(pool, String.self, from: "SELECT 1, NULL::text", column: 1)
                try await refuses(pool, [UUID].self, from: "SELECT NULL::uuid[]")
            }
        }

        @Test func `a column that is not there is an error`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                for column in [-1, 1, Int.max] {
                    try await refuses(pool, Int.self, from: "SELECT 1", column: column)
                }
            }
        }

        @Test func `a NUL in text is refused by the server and harms nothing`() async throws {
            try await withPool(lanes: 1) { pool, _ in
                let error = await #expect(throws: PostgresError.self) {
                    try await lend(pool) { connection throws(PostgresError) in
                        try connection.execute("SELECT \("a\u{0}b")")
                    }
                }
                #expect(error?.sqlstate == "22021")
                let count = try await lend(pool) { connection throws(PostgresError) in
                    try connection.execute("SELECT 1")
                }
                #expect(count == 1)
            }
        }
    }
}
