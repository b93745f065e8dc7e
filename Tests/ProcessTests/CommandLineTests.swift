import Application
import Glibc
import TestKit
import Testing

@Suite struct CommandLineTests {
    private static let verbs = ["serve", "migrate", "admin create", "settings", "key create", "restored", "routes"]

    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test("Each verb explains itself", arguments: verbs)
    func help(_ verb: String) async throws {
        let outcome = try await Binary.run(Self.words(verb) + ["--help"])
        #expect(outcome.exit == .status(0))
        #expect(outcome.output.hasPrefix("enfilade \(verb): "))
        #expect(outcome.output.contains("usage: enfilade \(verb)"))
        #expect(outcome.errors == "")
    }

    @Test("The program lists all its verbs; without arguments that is a usage error")
    func usage() async throws {
        let asked = try await Binary.run(["--help"])
        #expect(asked.exit == .status(0))
        for verb in Self.verbs { #expect(asked.output.contains("\n  \(verb) ")) }
        #expect(try await Binary.run([]).exit == .status(2))
        #expect(try await Binary.run(["--version"]).output == "enfilade \(Program.version)\n")
    }

    @Test(
        "What cannot be read on the command line is one line and exit status 2",
        arguments: [
            ("frobnicate", "there is no verb frobnicate"), ("admin", "there is no verb admin"),
            ("serve now", "now is one argument too many"), ("serve --port 80", "there is no option --port"),
            ("migrate --force", "--force needs a value"), ("admin create", "--username is needed"),
            ("admin create --username a", "--password-file is needed"),
            ("admin create --username a --username b", "--username is given twice"), ("key create", "FILE is needed"),
            ("settings --json --settings", "--settings needs a value"),
            ("routes --settings a", "there is no option --settings"),
            ("key create a b", "b is one argument too many"), ("routes all", "all is one argument too many"),
        ])
    func unreadable(_ line: String, _ complaint: String) async throws {
        let outcome = try await Binary.run(Self.words(line))
        #expect(outcome.exit == .status(2))
        #expect(outcome.output == "")
        #expect(outcome.complaints.count == 1)
        #expect(outcome.errors.hasPrefix("enfilade: \(complaint)"))
    }

    @Test("The routes are those of the application")
    func routes() async throws {
        let outcome = try await Binary.run(["routes"])
        #expect(outcome.exit == .status(0))
        let expected = try Application.routes().map { "\($0.method) \($0.pattern)" }
        #expect(outcome.output.split(separator: "\n").map(String.init) == expected)
    }

    @Test("A key is made once, for its owner only; a file that is there is kept")
    func key() async throws {
        let scratch = try Scratch()
        let path = scratch.path + "/key"
        let made = try await Binary.run(["key", "create", path])
        #expect(made.exit == .status(0))
        #expect(made.output == "created \(path)\n")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let before = (status.st_ino, status.st_mtim.tv_nsec)
        let again = try await Binary.run(["key", "create", path])
        #expect(again.exit == .status(1))
        #expect(again.complaints.count == 1)
        #expect(again.errors.hasPrefix("enfilade: \(path) already exists and is kept"))
        #expect(stat(path, &status) == 0)
        #expect((status.st_ino, status.st_mtim.tv_nsec) == before)
    }

    @Test("No message of a verb holds the database's password")
    func password() async throws {
        let url = "postgresql://enfilade_owner:the-secret-of-the-owner@127.0.0.1:1/nowhere"
        let environment = ["ENFILADE_OWNER_DATABASE_URL": url]
        for verb in ["migrate", "restored"] {
            let outcome = try await Binary.run([verb], environment)
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(!outcome.errors.contains("the-secret-of-the-owner"))
            #expect(outcome.errors.contains("is PostgreSQL running"))
        }
    }
}
