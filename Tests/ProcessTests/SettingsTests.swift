import TestKit
import Testing

@Suite struct SettingsTests {
    private static let wrong = [
        ("ENFILADE_DATABASE_URL", "", "is empty"), ("ENFILADE_OWNER_DATABASE_URL", "", "is empty"),
        ("ENFILADE_PUBLIC_URL", "ftp://enfilade.test", "must be http(s)://HOST[:PORT]"),
        ("ENFILADE_PUBLIC_URL", "https://enfilade.test/path", "must be http(s)://HOST[:PORT]"),
        ("ENFILADE_LISTEN", "8080", "must be ADDRESS:PORT"),
        ("ENFILADE_LISTEN", "127.0.0.1:65536", "must be ADDRESS:PORT"),
        ("ENFILADE_LISTEN", ":8080", "must begin with an address"), ("ENFILADE_ROOT_KEY_FILE", "", "is empty"),
        ("ENFILADE_METRICS_TOKEN_FILE", "/nonexistent", "names a file that cannot be read"),
        ("ENFILADE_METRICS_TOKEN_FILE", "/dev/null", "names a file that is not a regular file"),
        ("ENFILADE_TRUSTED_PROXIES", "10.0.0.0/33", "must be addresses or CIDR networks"),
        ("ENFILADE_LANES", "0", "must be a whole number from 1 to 64"),
        ("ENFILADE_LONGEST_WAIT_MS", "9", "must be a whole number from 10 to 10000"),
        ("ENFILADE_RATE_LIMIT_PERCENT", "-1", "must be a whole number from 0 to 10000"),
        ("ENFILADE_HTTP_WORKERS", "1", "must be a whole number from 2 to 256"),
        ("ENFILADE_CONNECTIONS", "many", "must be a whole number from 8 to 1000000"),
        ("ENFILADE_CONNECTIONS_PER_ADDRESS", "-1", "must be a whole number from 1 to 1000000"),
        ("ENFILADE_BODIES_IN_FLIGHT_BYTES", "1000", "must be a whole number from 1048576 to 1099511627776"),
        ("ENFILADE_MONITOR_LISTEN", "9090", "must be ADDRESS:PORT"),
        ("ENFILADE_ACCESS_TOKEN_SECONDS", "601", "must be a whole number from 60 to 600"),
        ("ENFILADE_SESSION_DAYS", "0", "must be a whole number from 1 to 3650"),
        ("ENFILADE_PASSWORD_LANES", "33", "must be a whole number from 1 to 32"),
        ("ENFILADE_PASSWORD_MIB", "7", "must be a whole number from 8 to 1024"),
        ("ENFILADE_CIPHERTEXT_BYTES", "1.5", "must be a whole number from 1024 to 1048576"),
        ("ENFILADE_ENVELOPES", "0", "must be a whole number from 1 to 4096"),
        ("ENFILADE_MESSAGE_BYTES", " 4096", "must be a whole number from 4096 to 67108864"),
        ("ENFILADE_MAILBOX_DAYS", "366", "must be a whole number from 1 to 365"),
        ("ENFILADE_BODY_BYTES", "4095", "must be a whole number from 4096 to 1048576"),
        ("ENFILADE_HEADER_BYTES", "65537", "must be a whole number from 2048 to 65536"),
        ("ENFILADE_URL_BYTES", "", "must be a whole number from 1024 to 16384"),
        ("ENFILADE_MAILBOX_ITEMS", "9", "must be a whole number from 10 to 10000000"),
        ("ENFILADE_MAILBOX_BYTES", "1e9", "must be a whole number from 65536 to 1099511627776"),
        ("ENFILADE_STREAMS_PER_DEVICE", "0", "must be a whole number from 1 to 64"),
        ("ENFILADE_STREAMS_PER_ACCOUNT", "0", "must be a whole number from 1 to 1024"),
        ("ENFILADE_CONFIGURATION_BYTES", "1", "must be a whole number from 1024 to 4194304"),
        ("ENFILADE_DRAIN_SECONDS", "0", "must be a whole number from 1 to 300"),
        ("ENFILADE_LITSEN", "127.0.0.1:80", "is not a setting"),
    ]

    @Test("A setting that is wrong is named in one line", arguments: wrong)
    func fault(_ name: String, _ value: String, _ complaint: String) async throws {
        for verb in ["serve", "settings"] {
            let outcome = try await Binary.run([verb], [name: value])
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.hasPrefix("enfilade: \(name) \(complaint)"))
        }
    }

    @Test("All wrong settings are named at once")
    func allFaults() async throws {
        let environment = Dictionary(Self.wrong.map { ($0.0, $0.1) }) { first, _ in first }
        let outcome = try await Binary.run(["serve"], environment)
        #expect(outcome.exit == .status(1))
        #expect(outcome.complaints.count == environment.count)
        for name in environment.keys { #expect(outcome.errors.contains("enfilade: \(name) ")) }
    }

    @Test("Every setting that the program lists has a wrong value in this table")
    func table() async throws {
        let outcome = try await Binary.run(["settings"])
        let names = outcome.output.split(separator: "\n").filter { $0.hasPrefix("ENFILADE_") }
            .compactMap { $0.split(separator: "=").first.map(String.init) }
        #expect(names.count > 20)
        #expect(Set(names).subtracting(Self.wrong.map(\.0)) == [])
    }

    @Test("The list of settings shows values and masks secrets")
    func masks() async throws {
        let scratch = try Scratch()
        let token = try scratch.write("token-of-the-metrics\n", to: "token")
        let outcome = try await Binary.run(
            ["settings"],
            [
                "ENFILADE_DATABASE_URL": "postgresql://enfilade_app:secret-of-the-app@db/enfilade",
                "ENFILADE_OWNER_DATABASE_URL": "postgresql://enfilade_owner:secret-of-the-owner@db/enfilade",
                "ENFILADE_METRICS_TOKEN_FILE": token, "ENFILADE_LANES": "12",
            ])
        #expect(outcome.exit == .status(0))
        for line in ["ENFILADE_DATABASE_URL=(set)", "ENFILADE_OWNER_DATABASE_URL=(set)", "ENFILADE_LANES=12"] {
            #expect(outcome.output.contains("\n\(line)\n"))
        }
        for secret in ["secret-of-the-app", "secret-of-the-owner", "token-of-the-metrics"] {
            #expect(!outcome.output.contains(secret))
        }
    }

    @Test("Serving and migrating each name what they cannot do without")
    func needs() async throws {
        let serving = try await Binary.run(["serve"])
        #expect(serving.exit == .status(1))
        #expect(
            serving.complaints.map { $0.split(separator: " ")[1] } == [
                "ENFILADE_DATABASE_URL", "ENFILADE_ROOT_KEY_FILE",
            ])
        for verb in ["migrate", "restored"] {
            let outcome = try await Binary.run([verb])
            #expect(outcome.exit == .status(1))
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.hasPrefix("enfilade: ENFILADE_OWNER_DATABASE_URL is needed"))
        }
    }
}
