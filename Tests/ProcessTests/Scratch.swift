import Glibc
import Lanes
import TestKit

/// A folder for a test's files, gone with it.
final class Scratch: Sendable {
    let path: String

    init() throws {
        guard let folder = makeTemporaryFolder("enfilade-process-") else {
            throw TestServer.Fault("no temporary folder can be made")
        }
        path = folder
    }

    deinit {
        for file in files { unlink(file) }
        rmdir(path)
    }

    private var files: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var files: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { files.append("\(path)/\(name)") }
        }
        return files
    }

    /// Writes a file and returns where it is.
    func write(_ text: String, to name: String, mode: mode_t = 0o600) throws -> String {
        let place = "\(path)/\(name)"
        let descriptor = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw TestServer.Fault("\(place) cannot be written") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestServer.Fault("\(place) cannot be written")
        }
        return place
    }
}

/// A PostgreSQL that a test may stop, with a database that the program itself has set up.
struct PrivatePostgres: Sendable {
    let cluster: PostgresCluster
    let database: String
    let environment: [String: String]
    private static let lane = Lane(name: "private-postgres")

    static func make(
        in scratch: Scratch, settings: String = "", walDirectory: String? = nil
    ) async throws -> PrivatePostgres {
        let (cluster, database) = try await lane.run { () throws -> (PostgresCluster, String) in
            let cluster = try PostgresCluster(settings: settings, walDirectory: walDirectory)
            return (cluster, try cluster.createDatabase())
        }
        var environment = try Template.environment(for: database)
        environment["ENFILADE_DATABASE_URL"] = cluster.conninfo(database: database)
        environment["ENFILADE_OWNER_DATABASE_URL"] = cluster.conninfo(database: database, role: .owner)
        let password = try scratch.write(TestServer.adminPassword, to: "password")
        for verb in [["migrate"], ["admin", "create", "--username", "admin", "--password-file", password]] {
            let outcome = try await Binary.run(verb, environment)
            guard outcome.exit == .status(0) else { throw TestServer.Fault("\(verb): \(outcome.errors)") }
        }
        return PrivatePostgres(cluster: cluster, database: database, environment: environment)
    }

    func stop(_ mode: PostgresCluster.StopMode) async throws {
        try await Self.lane.run { [cluster] () throws in try cluster.stop(mode) }
    }

    func start() async throws {
        try await Self.lane.run { [cluster] () throws in try cluster.start() }
    }

    func restart(_ mode: PostgresCluster.StopMode) async throws {
        try await Self.lane.run { [cluster] () throws in try cluster.restart(mode) }
    }

    func freeze(_ isFrozen: Bool) async throws {
        try await Self.lane.run { [cluster] () throws in try cluster.freeze(isFrozen) }
    }

    func launch(_ changes: [String: String] = [:]) async throws -> ServerProcess {
        try await ServerProcess.launch(environment.merging(changes) { $1 }, database: database)
    }
}
