import Domain
import Postgres
import Store
import Wire

private let columns: SQL = """
    id, name, kind, parent, team_id, bundle_id, redirect_uris, scopes, sharing_group, universal_links, url_scheme,
    is_built_in, created_at, updated_at, version
    """

extension Transaction {
    func app(_ id: AppID) throws(Failure) -> App? {
        try first(
            """
            SELECT \(columns)
            FROM app
            WHERE id = \(id)
            """, App.init(row:))
    }

    /// An app for changing or removing it: nobody gets a session of it meanwhile.
    func lockApp(_ id: AppID) throws(Failure) -> App? {
        try first(
            """
            SELECT \(columns)
            FROM app
            WHERE id = \(id)
            FOR UPDATE
            """, App.init(row:))
    }

    func apps(after: AppID?, limit: Int) throws(Failure) -> [App] {
        let start: SQL = if let after { "WHERE id > \(after)" } else { "" }
        return try query(
            """
            SELECT \(columns)
            FROM app
            \(start)
            ORDER BY id
            LIMIT \(limit)
            """, App.init(row:))
    }

    func insert(_ app: App) throws(Failure) {
        let registration = app.registration
        try execute(
            """
            INSERT INTO app (id, name, kind, parent, team_id, bundle_id, redirect_uris, scopes, sharing_group,
                             universal_links, url_scheme, created_at, updated_at, version)
            VALUES (\(app.id), \(registration.name), \(registration.kind.rawValue), \(registration.parent),
                    \(registration.teamID), \(registration.bundleID), \(registration.redirectURIs),
                    \(registration.scopes.ordered), \(registration.sharingGroup), \(registration.universalLinks),
                    \(registration.urlScheme), \(app.createdAt), \(app.updatedAt), \(app.version))
            """)
    }

    func save(_ app: App) throws(Failure) {
        let registration = app.registration
        try execute(
            """
            UPDATE app
            SET name = \(registration.name), parent = \(registration.parent), team_id = \(registration.teamID),
                bundle_id = \(registration.bundleID), redirect_uris = \(registration.redirectURIs),
                scopes = \(registration.scopes.ordered), sharing_group = \(registration.sharingGroup),
                universal_links = \(registration.universalLinks), url_scheme = \(registration.urlScheme),
                updated_at = \(app.updatedAt), version = \(app.version)
            WHERE id = \(app.id)
            """)
    }

    func hasExtensions(_ id: AppID) throws(Failure) -> Bool {
        try first("SELECT EXISTS (SELECT FROM app WHERE parent = \(id))") { row throws(PostgresError) in
            try row[0] as Bool
        } ?? false
    }

    func deleteApp(_ id: AppID) throws(Failure) {
        try execute("DELETE FROM app WHERE id = \(id)")
    }
}

extension App {
    fileprivate init(row: borrowing Row) throws(PostgresError) {
        guard let kind = AppRegistration.Kind(rawValue: try row[2]) else { throw .decoding(column: 2) }
        let scopes: [String] = try row[7]
        let registration = AppRegistration(
            name: try row[1], kind: kind, parent: try row[3], teamID: try row[4], bundleID: try row[5],
            redirectURIs: try row[6], scopes: Scopes(scopes.compactMap(Scope.init(rawValue:))),
            sharingGroup: try row[8], universalLinks: try row[9], urlScheme: try row[10])
        self.init(
            id: try row[0], registration: registration, isBuiltIn: try row[11], createdAt: try row[12],
            updatedAt: try row[13], version: try row[14])
    }
}
