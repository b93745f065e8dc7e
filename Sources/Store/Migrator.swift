public import Domain
import Glibc
import Migrations
public import Postgres
import Wire

/// Brings the schema up to date, and says whether it is.
public struct Migrator: Sendable {
    /// How the schema stands to this binary.
    public enum Standing: Sendable, Equatable {
        case current
        /// These migrations are missing: run `enfilade migrate`.
        case behind([String])
        /// A newer program has migrated past this one in a way this one cannot work with.
        case ahead(String)
        /// A migration that was applied reads differently here.
        case altered(String)
        /// The role as which servers connect does not exist, so nothing can be granted to it.
        case lacksRole

        /// Whether this binary may serve from the schema: it has all that this binary knows, and nothing that excludes it.
        public var isUsable: Bool { self == .current }
    }

    private struct Applied: Sendable {
        let version: Int
        let name: String
        let checksum: [UInt8]
        let isBreaking: Bool
    }

    private static let lock: Int64 = 7_303_000
    private let pool: Pool

    /// - Parameter pool: connects as the schema's owner for `migrate`, as anyone who may read for `standing`.
    public init(pool: Pool) { self.pool = pool }

    public func standing() async throws(Failure) -> Standing {
        try await lend { connection throws(PostgresError) in
            Self.compare(try Self.applied(connection), try Self.checksums(connection))
        }
    }

    /// Applies what is missing, each file in its own transaction; two that run at once take turns.
    public func migrate(observe: @escaping Observe) async throws(Failure) -> Standing {
        try await lend { connection throws(PostgresError) in
            try Self.locked(connection) { () throws(PostgresError) in
                guard try Self.hasServingRole(connection) else { return .lacksRole }
                try connection.script(Self.table)
                let applied = try Self.applied(connection)
                let checksums = try Self.checksums(connection)
                guard case .behind = Self.compare(applied, checksums) else { return Self.compare(applied, checksums) }
                let known = Set(applied.map(\.version))
                for (migration, checksum) in zip(Migration.all, checksums) where !known.contains(migration.version) {
                    try Self.apply(migration, checksum, on: connection)
                    observe(.migrated(version: migration.version, name: migration.name))
                }
                return .current
            }
        }
    }

    private func lend<R: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> R
    ) async throws(Failure) -> R {
        do throws(PostgresError) {
            let result = try await pool.lend { connection -> Result<R, PostgresError> in
                do throws(PostgresError) { return .success(try body(connection)) } catch { return .failure(error) }
            }
            return try result.get()
        } catch {
            throw Failure(error)
        }
    }

    private static func compare(_ applied: [Applied], _ checksums: [[UInt8]]) -> Standing {
        let mine = Dictionary(uniqueKeysWithValues: zip(Migration.all.map(\.version), checksums))
        for row in applied {
            if let checksum = mine[row.version] {
                if checksum != row.checksum { return .altered(row.name) }
            } else if row.isBreaking {
                return .ahead(row.name)
            }
        }
        let known = Set(applied.map(\.version))
        let missing = Migration.all.filter { !known.contains($0.version) }.map(\.name)
        return missing.isEmpty ? .current : .behind(missing)
    }

    private static func hasServingRole(_ connection: borrowing Connection) throws(PostgresError) -> Bool {
        try connection.first("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'enfilade_app')") {
            row throws(PostgresError) in try row[0] as Bool
        } ?? false
    }

    private static func applied(_ connection: borrowing Connection) throws(PostgresError) -> [Applied] {
        let exists = try connection.first("SELECT to_regclass('schema_migration') IS NOT NULL") {
            row throws(PostgresError) in try row[0] as Bool
        }
        guard exists == true else { return [] }
        return try connection.query(
            "SELECT version, name, checksum, is_breaking FROM schema_migration ORDER BY version"
        ) { row throws(PostgresError) in
            Applied(version: try row[0], name: try row[1], checksum: try row[2], isBreaking: try row[3])
        }
    }

    private static func checksums(_ connection: borrowing Connection) throws(PostgresError) -> [[UInt8]] {
        try connection.query(
            "SELECT sha256(file) FROM unnest(\(Migration.all.map(\.sql))) WITH ORDINALITY AS f (file, n) ORDER BY n"
        ) {
            row throws(PostgresError) in try row[0] as [UInt8]
        }
    }

    private static func apply(
        _ migration: Migration, _ checksum: [UInt8], on connection: borrowing Connection
    ) throws(PostgresError) {
        let note: SQL = """
            INSERT INTO schema_migration (version, name, checksum, is_breaking, applied_at)
            VALUES (\(migration.version), \(migration.name), \(checksum), \(migration.isBreaking), now())
            """
        let text = String(decoding: migration.sql, as: UTF8.self)
        guard migration.isTransactional else {
            try connection.script(text)
            try connection.execute(note)
            return
        }
        try connection.begin(.readWrite)
        do throws(PostgresError) {
            try connection.script(text)
            try connection.execute(note)
            try connection.commit()
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Tries for the lock instead of waiting in it: a waiting session would hold back concurrent index builds.
    private static func locked<R>(
        _ connection: borrowing Connection, _ body: () throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        while try connection.first(
            "SELECT pg_try_advisory_lock(\(lock))", { row throws(PostgresError) in try row[0] as Bool }) != true
        {
            usleep(200_000)
        }
        defer { _ = try? connection.execute("SELECT pg_advisory_unlock(\(lock))") }
        return try body()
    }

    private static let table = """
        CREATE TABLE IF NOT EXISTS schema_migration (
            version     integer     CONSTRAINT schema_migration_pkey PRIMARY KEY,
            name        text        NOT NULL,
            checksum    bytea       NOT NULL,
            is_breaking boolean     NOT NULL,
            applied_at  timestamptz NOT NULL
        );
        GRANT SELECT ON schema_migration TO enfilade_app;
        """
}
