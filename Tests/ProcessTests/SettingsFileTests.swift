import Glibc
import TestKit
import Testing
import Wire

@Suite struct SettingsFileTests {
    private static func list(
        _ text: String, mode: mode_t = 0o600, _ environment: [String: String] = [:]
    ) async throws
        -> (outcome: Binary.Outcome, path: String)
    {
        let scratch = try Scratch()
        let path = try scratch.write(text, to: "settings")
        chmod(path, mode)
        return (try await Binary.run(["settings", "--settings", path], environment), path)
    }

    @Test("A file is read in place of the environment, which wins; the list says where each value comes from")
    func sources() async throws {
        let text = "# shared\nENFILADE_LANES=12\n  ENFILADE_ENVELOPES = \nENFILADE_HTTP_WORKERS='20'\r\n; end"
        let (refused, place) = try await Self.list(text)
        #expect(refused.errors.hasPrefix("enfilade: \(place):3: must begin with the name of a setting, without spaces"))
        let good = text.replacing("  ENFILADE_ENVELOPES = ", with: "ENFILADE_ENVELOPES=\"7\"  ")
        let (outcome, path) = try await Self.list(good, ["ENFILADE_LANES": "5"])
        #expect(outcome.exit == .status(0), "\(outcome.errors)")
        for (line, source) in [
            ("ENFILADE_LANES=5", "environment"), ("ENFILADE_ENVELOPES=7", "\(path):3"),
            ("ENFILADE_HTTP_WORKERS=20", "\(path):4"), ("ENFILADE_URL_BYTES=4096", "default"),
        ] {
            #expect(outcome.output.contains(" [\(source)]\n\(line)\n"), "\(line)")
        }
    }

    @Test(
        "What is wrong in a file is named with its line, and never with its value",
        arguments: [
            ("ENFILADE_LITSEN=x", "ENFILADE_LITSEN is not a setting"), ("PGPASSWORD=hunter-two", "PGPASSWORD is not"),
            ("ENFILADE_SETTINGS_FILE=/x", "ENFILADE_SETTINGS_FILE is not a setting"),
            ("export ENFILADE_LANES=8", "must begin with the name of a setting"),
            ("hunter-two", "must be NAME=value, or begin with #"), ("=8", "must begin with the name"),
            ("ENFILADE_LANES=\"8", "ENFILADE_LANES holds a quote or backslash"),
            ("ENFILADE_DATABASE_URL=hunter\\-two", "ENFILADE_DATABASE_URL holds a quote or backslash"),
            ("ENFILADE_LANES=8\nENFILADE_LANES=9", "ENFILADE_LANES is in line 1 already"),
        ])
    func faults(_ text: String, _ complaint: String) async throws {
        let (outcome, path) = try await Self.list(text)
        let line = text.split(separator: "\n").count
        #expect(outcome.exit == .status(1))
        #expect(outcome.errors.hasPrefix("enfilade: \(path):\(line): \(complaint)"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("hunter"))
    }

    @Test("A value that is wrong is named with file and line, all of them at once, by every verb that reads settings")
    func values() async throws {
        let scratch = try Scratch()
        let path = try scratch.write("ENFILADE_LANES=0\n\nENFILADE_URL_BYTES=x\n", to: "settings")
        for verb in ["serve", "migrate", "restored", "settings"] {
            let outcome = try await Binary.run([verb], ["ENFILADE_SETTINGS_FILE": path])
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 2)
            #expect(
                outcome.errors.contains("enfilade: \(path):1: ENFILADE_LANES must be a whole number from 1 to 64\n"))
            #expect(outcome.errors.contains("enfilade: \(path):3: ENFILADE_URL_BYTES must be"))
        }
    }

    @Test(
        "A file that others can write is refused, and one that everybody can read when it holds a database's address",
        arguments: [
            (0o600, true, nil), (0o640, true, nil), (0o644, false, nil), (0o644, true, "everybody can read it"),
            (0o660, false, "can be written by others (mode 0660)"), (0o602, false, "can be written by others"),
        ] as [(mode_t, Bool, String?)])
    func modes(_ mode: mode_t, _ hasSecret: Bool, _ complaint: String?) async throws {
        let secret = "ENFILADE_DATABASE_URL=postgresql://enfilade_app:hunter-two@db/enfilade\n"
        let (outcome, path) = try await Self.list("ENFILADE_LANES=9\n" + (hasSecret ? secret : ""), mode: mode)
        #expect(!(outcome.output + outcome.errors).contains("hunter-two"))
        if let complaint {
            #expect(outcome.exit == .status(1))
            #expect(outcome.errors.hasPrefix("enfilade: \(path) ") && outcome.errors.contains(complaint))
        } else {
            #expect(outcome.exit == .status(0), "\(outcome.errors)")
        }
    }

    @Test("A file that is not there, no file, or somebody else's is refused")
    func strangeFiles() async throws {
        for (path, complaint) in [("/nonexistent", "cannot be read"), ("/tmp", "is not a regular file")] {
            let outcome = try await Binary.run(["serve", "--settings", path])
            #expect(outcome.exit == .status(1))
            #expect(outcome.errors.hasPrefix("enfilade: \(path) \(complaint)"), "\(outcome.errors)")
        }
        guard geteuid() == 0 else { return }
        let scratch = try Scratch()
        let path = try scratch.write("ENFILADE_LANES=9\n", to: "settings")
        chown(path, 65_534, 65_534)
        let outcome = try await Binary.run(["settings", "--settings", path])
        #expect(outcome.errors.hasPrefix("enfilade: \(path) belongs to another user (65534)"), "\(outcome.errors)")
    }

    @Test("The token of the metrics is not taken from a file that others can read or write", arguments: [0o644, 0o620])
    func tokenFile(mode: mode_t) async throws {
        let scratch = try Scratch()
        let path = try scratch.write("token-of-the-metrics\n", to: "token")
        chmod(path, mode)
        let outcome = try await Binary.run(["settings"], ["ENFILADE_METRICS_TOKEN_FILE": path])
        #expect(outcome.exit == .status(1))
        #expect(outcome.errors.hasPrefix("enfilade: ENFILADE_METRICS_TOKEN_FILE names a file that "))
        chmod(path, 0o640)
        #expect(try await Binary.run(["settings"], ["ENFILADE_METRICS_TOKEN_FILE": path]).exit == .status(0))
        let short = try scratch.write("too-short\n", to: "short")
        let refused = try await Binary.run(["settings"], ["ENFILADE_METRICS_TOKEN_FILE": short])
        #expect(refused.errors.contains("names a file whose first line is shorter than 16 characters"))
    }

    @Test("The example names every setting, and with its comment signs taken away it is a good file")
    func example() async throws {
        let scratch = try Scratch()
        let example = try await Binary.run(["settings", "--example"])
        #expect(example.exit == .status(0))
        let token = try scratch.write("token-of-the-metrics\n", to: "token")
        let filled = example.output.replacing("#ENFILADE_", with: "ENFILADE_")
            .replacing("/etc/enfilade/metrics-token", with: token)
        let path = try scratch.write(filled, to: "settings")
        let outcome = try await Binary.run(["settings", "--json"], ["ENFILADE_SETTINGS_FILE": path])
        #expect(outcome.exit == .status(0), "\(outcome.errors)")
        let settings = try #require(try JSON.parse(Array(outcome.output.utf8)).items)
        #expect(settings.count > 20)
        #expect(settings.allSatisfy { $0["source"]?.text?.hasPrefix(path) == true })
        #expect(settings.allSatisfy { $0["meaning"]?.text?.isEmpty == false })
        #expect(!outcome.output.contains("PASSWORD@"))
    }

    @Test("A server runs on a file alone, and its environment holds no secret", .timeLimit(.minutes(5)))
    func serves() async throws {
        let scratch = try Scratch()
        let database = try await Template.shared.copy()
        let lines = try Template.environment(for: database).map { "\($0.key)='\($0.value)'\n" }
        let path = try scratch.write(lines.joined(), to: "settings")
        let server = try await ServerProcess.launch(["ENFILADE_SETTINGS_FILE": path], database: database)
        try await server.started()
        #expect(try await server.makeClient().send("GET", "/readyz").status == 200)
        #expect(await server.stop() == .status(0))
        try await Template.drop(database)
    }
}
