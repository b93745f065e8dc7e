// swift-tools-version: 6.3
import PackageDescription

// Rooms and the direction between them: an import that is not listed here does not compile.
// ARCHITECTURE.md §4 says what each room is for; features never import features.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Where libFuzzer is, when bin/fuzz builds: then rooms count their branches for it, and there is one more program.
let fuzzer = Context.environment["ENFILADE_FUZZER"]
let counting: [SwiftSetting] = fuzzer == nil ? [] : [.unsafeFlags(["-Xfrontend", "-sanitize=address,fuzzer"])]

/// SwiftPM embeds what is named, and a contract test compares the names with the folder.
let embedded: [Resource] = [
    "audit", "account", "session", "device", "mailbox", "configuration", "idempotency", "ack",
    "audit_rights", "plans",
].enumerated().map { .embedInCode("m\(String($0.offset + 10001).dropFirst())_\($0.element).sql") }

/// Rooms are small and lend each other generic pieces.
///
/// Across modules the compiler specialises only what is `public`, so that is what their doors are; nothing outside this package
/// can import them.
let together: [SwiftSetting] =
    // The compiler crashes over both.
    fuzzer == nil ? [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))] : []

func room(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings + counting + together)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let floor: [Target.Dependency] = ["API", "HTTP", "Store", "Postgres", "Crypto", "Domain", "Wire"]
let features = ["Login", "Accounts", "Devices", "Mailboxes", "Configuration", "Audit", "Updates"]

let package = Package(
    name: "enfilade",
    products: [.executable(name: "enfilade", targets: ["enfilade"])],
    targets: [
        // C libraries from Debian: module maps, and shims for what Swift cannot call.
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),

        // The shared floor.
        room("Wire"),
        room("Domain", ["Wire"]),
        room("Lanes"),
        room("Crypto", ["CSodium", "Domain", "Lanes", "Wire"]),
        room("Postgres", ["CPostgreSQL", "Lanes", "Wire"]),
        room("HTTP", ["CMicroHTTPD", "Lanes", "Wire"]),
        .target(
            name: "Migrations", path: "migrations", resources: embedded, swiftSettings: settings),
        .target(
            name: "Contract", path: "openapi", resources: [.embedInCode("openapi.yaml")], swiftSettings: settings),
        room("Store", ["Domain", "Migrations", "Postgres", "Wire"]),
        room("API", ["HTTP", "Lanes", "Store", "Domain", "Wire"]),

        // The features.
        room("Login", floor + ["Lanes"]),
        room("Accounts", floor),
        room("Devices", floor),
        room("Mailboxes", floor + ["Lanes"]),
        room("Configuration", floor + ["Lanes"]),
        room("Audit", floor),
        room("Updates", floor + ["Lanes"]),

        // What bin/bench needs at speed; in no product.
        .executableTarget(
            name: "Bench", dependencies: ["CMicroHTTPD", "Crypto", "Domain", "Wire"], path: "bench/Sources",
            swiftSettings: settings),

        // The only room that knows all rooms, and the program.
        room("Application", floor + ["Contract", "Lanes", "Migrations"] + features.map { .init(stringLiteral: $0) }),
        .executableTarget(
            name: "enfilade", dependencies: ["Application", "Domain", "Store"], swiftSettings: settings),

        // Tests; TestKit is linked by no product.
        .target(
            name: "TestKit", dependencies: floor + ["Application", "Lanes"], path: "Tests/TestKit",
            swiftSettings: settings),
        tests("WireTests", ["Wire"]),
        tests("CryptoTests", ["Crypto", "CSodium", "Domain", "TestKit", "Wire"]),
        tests("LanesTests", ["Lanes"]),
        tests("PostgresTests", ["Postgres", "Lanes", "TestKit", "Wire"]),
        tests("HTTPTests", ["HTTP", "TestKit", "Wire"]),
        tests("LoginTests", floor + ["Login"]),
        tests("LoginFlowTests", ["Application", "TestKit", "Crypto", "Domain", "Wire"]),
        tests("AccountsTests", floor + ["Accounts"]),
        tests("DevicesTests", floor + ["Devices"]),
        tests("MailboxesTests", floor + ["Mailboxes", "TestKit"]),
        tests(
            "ConfigurationTests", ["Application", "API", "Configuration", "Domain", "HTTP", "Lanes", "TestKit", "Wire"]),
        tests("AuditTests", ["API", "Audit", "Domain", "HTTP", "TestKit", "Wire"]),
        tests("UpdatesTests", ["API", "Domain", "Updates", "Wire"]),
        tests("EndToEndTests", floor + ["Application", "TestKit", "Lanes"]),
        tests("ProcessTests", floor + ["Application", "TestKit", "Lanes"]),
    ]
)

// The same targets twice: as tests that look at the first inputs once, and, for bin/fuzz, as a program with libFuzzer.
let fuzzed = floor + ["Application"] + features.map { .init(stringLiteral: $0) }
if let fuzzer {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/FuzzTests/CFuzzer"),
        .executableTarget(
            name: "enfilade-fuzz",
            dependencies: fuzzed + ["CFuzzer"],
            path: "Tests/FuzzTests",
            exclude: ["CFuzzer", "Corpus", "ReplayTests.swift"],
            swiftSettings: settings,
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--whole-archive", "-Xlinker", fuzzer, "-Xlinker", "--no-whole-archive"]),
                .linkedLibrary("stdc++"),
            ]),
    ]
} else {
    package.targets += [
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed, exclude: ["CFuzzer", "Corpus", "main.swift"],
            swiftSettings: settings)
    ]
}
