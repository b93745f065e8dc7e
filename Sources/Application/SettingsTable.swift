import API
import Glibc

extension Setting {
    /// Every setting there is, in the order of the README's table.
    public static let all: [Setting] = [
        text(
            "ENFILADE_DATABASE_URL", \.databaseURL, "PostgreSQL for the server, as role enfilade_app", isSecret: true,
            sample: "postgresql://enfilade_app:PASSWORD@HOST/enfilade"),
        text(
            "ENFILADE_OWNER_DATABASE_URL", \.ownerDatabaseURL,
            "PostgreSQL for migrate, admin create and restored, as role enfilade_owner", isSecret: true,
            sample: "postgresql://enfilade_owner:PASSWORD@HOST/enfilade"),
        publicURL,
        endpoint(
            "ENFILADE_LISTEN", "address and port to listen on; port 0 takes a free one", \.listenAddress,
            \.listenPort),
        endpoint(
            "ENFILADE_MONITOR_LISTEN",
            "a second address and port, for /healthz, /readyz and /metrics (without token) alone", \.monitorAddress,
            \.monitorPort, sample: "127.0.0.1:9464"),
        text(
            "ENFILADE_ROOT_KEY_FILE", \.rootKeyFile, "file with the root key (mode 0600)",
            sample: "/etc/enfilade/root-key"),
        tokenFile,
        proxies,
        number("ENFILADE_LANES", \.lanes, 1...64, "PostgreSQL connections"),
        number(
            "ENFILADE_LONGEST_WAIT_MS", \.longestWait, 10...10_000,
            "a line that would take longer turns requests away (503); for passwords twice as long"),
        number(
            "ENFILADE_RATE_LIMIT_PERCENT", \.rateLimitPercent, 0...10_000,
            "rate limits, in percent of their defaults; 0 for none"),
        number(
            "ENFILADE_HTTP_WORKERS", \.workers, 2...256, "HTTP threads; more than twice the processors gain nothing"),
        number("ENFILADE_CONNECTIONS", \.connections, 8...1_000_000, "open connections before the rest wait"),
        number(
            "ENFILADE_CONNECTIONS_PER_ADDRESS", \.connectionsPerAddress, 1...1_000_000,
            "open connections of one peer address, trusted proxies and loopback excepted"),
        number(
            "ENFILADE_BODIES_IN_FLIGHT_BYTES", \.bodiesInFlightBytes, 1_048_576...1_099_511_627_776,
            "request bodies held at once before more are refused"),
        number("ENFILADE_ACCESS_TOKEN_SECONDS", \.accessTokenSeconds, 60...600, "life of an access token"),
        number(
            "ENFILADE_SESSION_DAYS", \.sessionDays, 1...3650,
            "days until somebody has to sign in again, however often the session is refreshed"),
        number("ENFILADE_PASSWORD_LANES", \.passwordLanes, 1...32, "threads that check passwords"),
        number("ENFILADE_PASSWORD_MIB", \.passwordMemory, 8...1024, "memory of one password check (argon2id)"),
        number("ENFILADE_CIPHERTEXT_BYTES", \.ciphertextBytes, 1024...1_048_576, "ciphertext of one envelope"),
        number("ENFILADE_ENVELOPES", \.envelopes, 1...4096, "envelopes in one message"),
        number("ENFILADE_MESSAGE_BYTES", \.messageBytes, 4096...67_108_864, "body of one message"),
        number("ENFILADE_BODY_BYTES", \.bodyBytes, 4096...1_048_576, "body of any other request"),
        number("ENFILADE_HEADER_BYTES", \.headerBytes, 2048...65_536, "headers of one request"),
        number("ENFILADE_URL_BYTES", \.urlBytes, 1024...16_384, "URL of one request"),
        number("ENFILADE_MAILBOX_ITEMS", \.mailboxItems, 10...10_000_000, "items in one mailbox before the oldest go"),
        number(
            "ENFILADE_MAILBOX_BYTES", \.mailboxBytes, 65_536...1_099_511_627_776,
            "ciphertext in one mailbox, likewise"),
        number("ENFILADE_MAILBOX_DAYS", \.mailboxDays, 1...365, "how long undelivered messages wait"),
        number("ENFILADE_STREAMS_PER_DEVICE", \.streamsPerDevice, 1...64, "event streams of one device"),
        number("ENFILADE_STREAMS_PER_ACCOUNT", \.streamsPerAccount, 1...1024, "event streams of one account"),
        number("ENFILADE_CONFIGURATION_BYTES", \.configurationBytes, 1024...4_194_304, "configuration of one app"),
        number("ENFILADE_DRAIN_SECONDS", \.drainSeconds, 1...300, "time for requests in flight when stopping"),
    ]

    private static func text(
        _ name: String, _ path: any WritableKeyPath<Settings, String> & Sendable, _ meaning: String,
        isSecret: Bool = false, sample: String = ""
    ) -> Setting {
        Setting(
            name: name, meaning: meaning, isSecret: isSecret, sample: sample,
            read: { text, settings in
                guard !text.isEmpty else { return "is empty" }
                settings[keyPath: path] = text
                return nil
            }, show: { $0[keyPath: path] })
    }

    private static func number(
        _ name: String, _ path: any WritableKeyPath<Settings, Int> & Sendable, _ range: ClosedRange<Int>,
        _ meaning: String
    ) -> Setting {
        Setting(
            name: name, meaning: meaning, isSecret: false,
            read: { text, settings in
                guard let value = Int64(decimal: text).flatMap(Int.init(exactly:)), range.contains(value) else {
                    return "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
                }
                settings[keyPath: path] = value
                return nil
            }, show: { "\($0[keyPath: path])" })
    }

    private static func endpoint(
        _ name: String, _ meaning: String, _ address: any WritableKeyPath<Settings, String> & Sendable,
        _ port: any WritableKeyPath<Settings, Int> & Sendable, sample: String = ""
    ) -> Setting {
        Setting(
            name: name, meaning: meaning, isSecret: false, sample: sample,
            read: { text, settings in
                guard let colon = text.lastIndex(of: ":"),
                    let number = Int64(decimal: text[text.index(after: colon)...]), number <= 65_535
                else { return "must be ADDRESS:PORT, for instance 127.0.0.1:8080 or [::1]:8080" }
                var host = text[..<colon]
                if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
                guard !host.isEmpty else { return "must begin with an address" }
                settings[keyPath: address] = String(host)
                settings[keyPath: port] = Int(number)
                return nil
            },
            show: { settings in
                let host = settings[keyPath: address]
                return host.isEmpty ? "" : "\(host):\(settings[keyPath: port])"
            })
    }

    private static let publicURL = Setting(
        name: "ENFILADE_PUBLIC_URL", meaning: "the address that clients use; issuer of tokens and base of links",
        isSecret: false,
        read: { text, settings in
            let isWeb = text.hasPrefix("https://") || text.hasPrefix("http://")
            let rest = text.drop { $0 != "/" }.dropFirst(2)
            let isPlain = rest.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 && $0 != 0x22 }
            guard isWeb, !rest.isEmpty, isPlain, !rest.contains("/"), !rest.contains("@") else {
                return "must be http(s)://HOST[:PORT] and nothing more"
            }
            settings.publicURL = text
            return nil
        }, show: { $0.issuer })

    private static let proxies = Setting(
        name: "ENFILADE_TRUSTED_PROXIES",
        meaning: "addresses or networks, comma-separated, whose X-Forwarded-For is believed", isSecret: false,
        sample: "127.0.0.1,::1",
        read: { text, settings in
            let list = text.split(separator: ",").map { String($0.filter { $0 != " " }) }
            guard TrustedProxies(list) != nil else { return "must be addresses or CIDR networks, comma-separated" }
            settings.trustedProxies = list
            return nil
        }, show: { $0.trustedProxies.joined(separator: ",") })

    private static let tokenFile = Setting(
        name: "ENFILADE_METRICS_TOKEN_FILE",
        meaning: "file with the bearer token of /metrics; without it there is no /metrics",
        isSecret: true, namesFile: true, sample: "/etc/enfilade/metrics-token",
        read: { path, settings in
            guard let found = File.opened(path) else { return "names a file that cannot be read" }
            if let objection = found.standing.objection { return "names a file that \(objection)" }
            guard !found.standing.isOpenToAll else {
                return "names a file that everybody can read (mode \(found.standing.octal)); chmod o-rwx"
            }
            guard let text = File.firstLine(of: found.bytes), text.utf8.count >= 16 else {
                return "names a file whose first line is shorter than 16 characters"
            }
            settings.metricsToken = text
            return nil
        }, show: { $0.metricsToken ?? "" })
}
