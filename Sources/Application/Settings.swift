import API
import Crypto
import Domain
import Glibc
import HTTP
import Login
import Mailboxes
import Wire

/// What an operator sets, read from a file and the environment and checked before anything starts.
public struct Settings: Sendable {
    public var databaseURL = ""
    public var ownerDatabaseURL = ""
    public var publicURL = ""
    public var listenAddress = "127.0.0.1"
    public var listenPort = 8080
    /// Empty for no listener of its own.
    public var monitorAddress = ""
    public var monitorPort = 0
    public var rootKeyFile = ""
    public var metricsToken: String?
    public var trustedProxies: [String] = []
    public var lanes = 8
    public var longestWait = 1_000
    public var rateLimitPercent = 100
    public var workers = 16
    public var connections = 10_000
    public var connectionsPerAddress = 1000
    public var bodiesInFlightBytes = 256 * 1024 * 1024
    public var accessTokenSeconds = 600
    public var sessionDays = 365
    public var passwordLanes = 2
    public var passwordMemory = 64
    public var ciphertextBytes = 64 * 1024
    public var envelopes = 256
    public var messageBytes = 1024 * 1024
    public var bodyBytes = Route.smallBody
    public var headerBytes = 8 * 1024
    public var urlBytes = 4 * 1024
    public var mailboxItems = 10_000
    public var mailboxBytes = 64 * 1024 * 1024
    public var mailboxDays = 30
    public var streamsPerDevice = 4
    public var streamsPerAccount = 32
    public var configurationBytes = 256 * 1024
    public var drainSeconds = 10
    /// Not from the environment: what the process was started with.
    public var inheritedSocket: Int32?
    /// Milliseconds; no setting, but what tests change to hold a lock for as long as they need.
    public var statementTimeout = 5_000
    public var lockTimeout = 2_000

    /// Where each setting that was set came from.
    public private(set) var sources: [String: SettingSource] = [:]

    public init() {}

    /// Where clients find the server: the only source of the issuer and of links.
    public var issuer: String { publicURL.isEmpty ? "http://\(listenAddress):\(listenPort)" : publicURL }
}

/// Where a setting that is not the default was found.
public enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    case environment
    case file(path: String, line: Int)

    public var description: String {
        switch self {
        case .environment: "environment"
        case .file(let path, let line): "\(path):\(line)"
        }
    }
}

/// One setting that is not as it should be.
public struct SettingFault: Error, Sendable, CustomStringConvertible {
    public let name: String
    public let detail: String

    public var description: String { "\(name) \(detail)" }
}

/// All that is wrong with the settings, found in one look.
public struct SettingFaults: Error, Sendable {
    public let faults: [SettingFault]
}

/// One line of the settings table: how a setting is called, what it means, how it is read and shown.
public struct Setting: Sendable {
    public let name: String
    public let meaning: String
    public let isSecret: Bool
    /// Its value is where a file is, which is no secret.
    var namesFile = false
    /// What to put there, when the default says nothing.
    var sample = ""
    let read: @Sendable (String, inout Settings) -> String?
    let show: @Sendable (Settings) -> String

    /// The value in use; a secret only says whether there is one.
    public func value(in settings: Settings) -> String {
        let value = show(settings)
        return isSecret && !value.isEmpty ? "(set)" : value
    }

    /// Its line in a file of settings, for filling in.
    public var example: String {
        let value = show(Settings())
        return "#\(name)=\(value.isEmpty ? sample : value)"
    }
}

extension Settings {
    /// Reads the environment and, for what it does not say, a file; a name that begins with `ENFILADE_` and means nothing
    /// is a fault too, so that typing errors are not silently the default.
    public init(environment: [String: String], file: SettingsFile? = nil) throws(SettingFaults) {
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
    public static let fileVariable = "ENFILADE_SETTINGS_FILE"

    /// Read by the scripts around the server, or before the settings.
    private static let foreign: Set<String> = [
        "ENFILADE_URL", "ENFILADE_ADMIN_PASSWORD_FILE", "ENFILADE_SERVER_LOG", "ENFILADE_EXCHANGES_DIR",
        "ENFILADE_BINARY", "ENFILADE_STATE_DIR", fileVariable,
    ]

    /// What `serve` cannot do without.
    public func checkForServing() throws(SettingFaults) {
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

    public func checkForOwner() throws(SettingFaults) {
        guard ownerDatabaseURL.isEmpty else { return }
        throw SettingFaults(faults: [
            SettingFault(
                name: "ENFILADE_OWNER_DATABASE_URL", detail: "is needed: where PostgreSQL is, as enfilade_owner")
        ])
    }
}

extension Settings {
    /// Every setting with its value and source as one JSON array, secrets masked.
    public var json: String {
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
