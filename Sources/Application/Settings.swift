import API
import Crypto
import Domain
import Glibc
import HTTP
import Login
import Mailboxes
import Wire

/// What an operator sets, read from a file and the environment and checked before anything starts.
package struct Settings: Sendable {
    package var databaseURL = ""
    package var ownerDatabaseURL = ""
    package var publicURL = ""
    package var listenAddress = "127.0.0.1"
    package var listenPort = 8080
    /// Empty for no listener of its own.
    package var monitorAddress = ""
    package var monitorPort = 0
    package var rootKeyFile = ""
    package var metricsToken: String?
    package var trustedProxies: [String] = []
    package var lanes = 8
    package var longestWait = 1_000
    package var rateLimitPercent = 100
    package var workers = 32
    package var connections = 10_000
    package var connectionsPerAddress = 1000
    package var bodiesInFlightBytes = 256 * 1024 * 1024
    package var accessTokenSeconds = 600
    package var sessionDays = 365
    package var passwordLanes = 2
    package var passwordMemory = 64
    package var ciphertextBytes = 64 * 1024
    package var envelopes = 256
    package var messageBytes = 1024 * 1024
    package var bodyBytes = Route.smallBody
    package var headerBytes = 8 * 1024
    package var urlBytes = 4 * 1024
    package var mailboxItems = 10_000
    package var mailboxBytes = 64 * 1024 * 1024
    package var mailboxDays = 30
    package var streamsPerDevice = 4
    package var streamsPerAccount = 32
    package var configurationBytes = 256 * 1024
    package var drainSeconds = 10
    /// Not from the environment: what the process was started with.
    package var inheritedSocket: Int32?
    /// Milliseconds; no setting, but what tests change to hold a lock for as long as they need.
    package var statementTimeout = 5_000
    package var lockTimeout = 2_000

    /// Where each setting that was set came from.
    package private(set) var sources: [String: SettingSource] = [:]

    package init() {}

    /// Where clients find the server: the only source of the issuer and of links.
    package var issuer: String { publicURL.isEmpty ? "http://\(listenAddress):\(listenPort)" : publicURL }
}

/// Where a setting that is not the default was found.
package enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    case environment
    case file(path: String, line: Int)

    package var description: String {
        switch self {
        case .environment: "environment"
        case .file(let path, let line): "\(path):\(line)"
        }
    }
}

/// One setting that is not as it should be.
package struct SettingFault: Error, Sendable, CustomStringConvertible {
    package let name: String
    package let detail: String

    package var description: String { "\(name) \(detail)" }
}

/// All that is wrong with the settings, found in one look.
package struct SettingFaults: Error, Sendable {
    package let faults: [SettingFault]
}

/// One line of the settings table: how a setting is called, what it means, how it is read and shown.
package struct Setting: Sendable {
    package let name: String
    package let meaning: String
    package let isSecret: Bool
    /// Its value is where a file is, which is no secret.
    var namesFile = false
    /// What to put there, when the default says nothing.
    var sample = ""
    let read: @Sendable (String, inout Settings) -> String?
    let show: @Sendable (Settings) -> String

    /// The value in use; a secret only says whether there is one.
    package func value(in settings: Settings) -> String {
        let value = show(settings)
        return isSecret && !value.isEmpty ? "(set)" : value
    }

    /// Its line in a file of settings, for filling in.
    package var example: String {
        let value = show(Settings())
        return "#\(name)=\(value.isEmpty ? sample : value)"
    }
}

extension Settings {
    /// Reads the environment and, for what it does not say, a file; a name that begins with `ENFILADE_` and means nothing
    /// is a fault too, so that typing errors are not silently the default.
    package init(environment: [String: String], file: SettingsFile? = nil) throws(SettingFaults) {
        self.init()
        var faults: [SettingFault] = []
        for setting in Setting.all {
            guard let (text, source) = Self.find(setting.name, environment, file) else { continue }
            sources[setting.name] = source
            guard let detail = setting.read(text, &self) else { continue }
            let place = if case .file = source { "\(source): " } else { "" }
            faults.append(SettingFault(name: place + setting.name, detail: detail))
        }
        let known = Set(Setting.all.map(\.name))
        for name in environment.keys.sorted() where name.hasPrefix("ENFILADE_") && !known.contains(name) {
            guard !Self.foreign.contains(name) else { continue }
            faults.append(SettingFault(name: name, detail: "is not a setting; see enfilade settings"))
        }
        guard faults.isEmpty else { throw SettingFaults(faults: faults) }
    }

    /// The environment wins, so that one node or one run can differ from what all share.
    private static func find(
        _ name: String, _ environment: [String: String], _ file: SettingsFile?
    ) -> (String, SettingSource)? {
        if let text = environment[name] { return (text, .environment) }
        guard let file, let entry = file.entries[name] else { return nil }
        return (entry.text, .file(path: file.path, line: entry.line))
    }

    /// The variable that names the file of settings.
    package static let fileVariable = "ENFILADE_SETTINGS_FILE"

    /// Read by the scripts around the server, or before the settings.
    private static let foreign: Set<String> = [
        "ENFILADE_URL", "ENFILADE_ADMIN_PASSWORD_FILE", "ENFILADE_SERVER_LOG", "ENFILADE_EXCHANGES_DIR",
        "ENFILADE_BINARY", "ENFILADE_STATE_DIR", fileVariable,
    ]

    /// What `serve` cannot do without.
    package func checkForServing() throws(SettingFaults) {
        var faults: [SettingFault] = []
        if databaseURL.isEmpty {
            faults.append(
                SettingFault(name: "ENFILADE_DATABASE_URL", detail: "is needed: where PostgreSQL is, as enfilade_app"))
        }
        if rootKeyFile.isEmpty {
            faults.append(
                SettingFault(
                    name: "ENFILADE_ROOT_KEY_FILE", detail: "is needed: make one with enfilade key create FILE"))
        }
        guard faults.isEmpty else { throw SettingFaults(faults: faults) }
    }

    package func checkForOwner() throws(SettingFaults) {
        guard ownerDatabaseURL.isEmpty else { return }
        throw SettingFaults(faults: [
            SettingFault(
                name: "ENFILADE_OWNER_DATABASE_URL", detail: "is needed: where PostgreSQL is, as enfilade_owner")
        ])
    }
}

extension Settings {
    /// Every setting with its value and source as one JSON array, secrets masked.
    package var json: String {
        var writer = JSONWriter()
        writer.beginArray()
        for setting in Setting.all {
            writer.beginObject()
            writer.field("name", setting.name)
            writer.field("value", setting.value(in: self))
            writer.field("source", sources[setting.name].map { "\($0)" } ?? "default")
            writer.field("meaning", setting.meaning)
            writer.endObject()
        }
        writer.endArray()
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
