import Postgres
import Testing

extension PostgresRoom {
    // A String as text does not compile, so no test can show it:
    //     let table = "account"; let sql = SQL(stringLiteral: table)    // cannot convert 'String' to 'StaticString'
    @Suite struct SQLTests {
        @Test func `interpolated text is bound, never part of the statement`() {
            let hostile = "'; DROP TABLE account; --"
            let sql: SQL = "SELECT id FROM account WHERE name = \(hostile) AND age > \(3)"
            #expect(sql.text == "SELECT id FROM account WHERE name = $1 AND age > $2")
            #expect(sql.bindCount == 2)
        }

        @Test func `joining renumbers the values of the second part`() {
            let filter: SQL = " AND b = \(2) AND c = \(3)"
            let sql: SQL = "SELECT 1 WHERE a = \(1)" + filter + " LIMIT 5"
            #expect(sql.text == "SELECT 1 WHERE a = $1 AND b = $2 AND c = $3 LIMIT 5")
            #expect(sql.bindCount == 3)
        }

        @Test func `a part inside a statement brings its values along`() {
            let condition: SQL = "x = \(1) OR x = \(2)"
            let sql: SQL = "SELECT \(0) WHERE (\(condition)) AND y = \(3)"
            #expect(sql.text == "SELECT $1 WHERE (x = $2 OR x = $3) AND y = $4")
        }

        @Test func `numbers of two and three digits are joined correctly`() {
            var sql: SQL = "SELECT 0"
            let part: SQL =
                " + \(1) + \(2) + \(3) + \(4) + \(5) + \(6) + \(7) + \(8) + \(9) + \(10) + \(11)"
            for _ in 0..<10 { sql += part }
            let expected = "SELECT 0" + (1...110).map { " + $\($0)" }.joined()
            #expect(sql.text == expected)
            #expect(sql.bindCount == 110)
        }

        @Test func `literal dollar signs are left alone`() {
            let sql: SQL = "SELECT '$1', \(1)" + " , '$9' || \("a")"
            #expect(sql.text == "SELECT '$1', $1 , '$9' || $2")
        }
    }
}
