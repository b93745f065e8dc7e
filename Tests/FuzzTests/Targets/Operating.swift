import API

@testable import Application

extension FuzzTarget {
    static let operating = [
        FuzzTarget("settings", longest: 512) { bytes in
            var environment: [String: String] = [:]
            for line in bytes.split(separator: 0x0A).map({ Array($0).anyText }) {
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                // Read from a file, which may be anything on this machine.
                guard parts.count == 2, parts[0] != "METRICS_TOKEN_FILE", !parts[1].utf8.contains(0) else { continue }
                environment["ENFILADE_" + parts[0]] = parts[1]
            }
            guard let settings = try? Settings(environment: environment) else { return }
            var shown: [String: String] = [:]
            for setting in Setting.all where setting.name != "ENFILADE_METRICS_TOKEN_FILE" {
                let text = setting.show(settings)
                if environment[setting.name] != nil { shown[setting.name] = text }
            }
            guard let again = try? Settings(environment: shown) else {
                return expect(false, "what is shown can be set")
            }
            for setting in Setting.all {
                expect(setting.show(again) == setting.show(settings), "what is shown means what was set")
            }
            let host = settings.publicURL.utf8.drop { $0 != UInt8(ascii: "/") }
            expect(!host.contains { $0 <= 0x20 || $0 == 0x7F }, "the issuer fits in a header")
        },
        FuzzTarget("proxies", longest: 96) { bytes in
            let list = bytes.anyText.split(separator: ",").map(String.init)
            guard TrustedProxies(list) != nil else { return }
            let isPlain = list.allSatisfy {
                $0.utf8.allSatisfy { (0x2E...0x66).contains($0) || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
            }
            expect(isPlain, "a network is written in digits, dots, colons and one slash")
        },
    ]
}
