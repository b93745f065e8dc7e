import Glibc

/// A file of settings: `NAME=value` lines and comments, as systemd's `EnvironmentFile=` and a shell read them too.
///
/// Only what all of them read alike is taken; a line that one of them would read otherwise is a fault, and so is a file
/// that somebody else could have written.
public struct SettingsFile: Sendable {
    struct Entry: Sendable {
        let text: String
        let line: Int
    }

    public let path: String
    private(set) var entries: [String: Entry] = [:]

    /// The settings of a file, every fault in it at once.
    public init(path: String) throws(SettingFaults) {
        self.path = path
        guard let found = File.opened(path) else { throw SettingFaults(Self.fault(path, "cannot be read")) }
        if let detail = found.standing.objection { throw SettingFaults(Self.fault(path, detail)) }
        guard let text = String(validating: found.bytes, as: UTF8.self) else {
            throw SettingFaults(Self.fault(path, "is not UTF-8"))
        }
        var faults: [SettingFault] = []
        // By bytes: to Swift a CR and the LF behind it are one character, and no end of a line.
        for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if let detail = read(Substring(line), number: index + 1) {
                faults.append(SettingFault(name: "\(path):\(index + 1):", detail: detail))
            }
        }
        if holdsSecret, found.standing.isOpenToAll {
            faults.append(
                Self.fault(path, "holds a database's address and everybody can read it; chmod o-rwx \(path)"))
        }
        guard faults.isEmpty else { throw SettingFaults(faults: faults) }
    }

    private var holdsSecret: Bool {
        Setting.all.contains { $0.isSecret && !$0.namesFile && entries[$0.name] != nil }
    }

    /// Takes one line; what is wrong with it, never with its value.
    private mutating func read(_ raw: Substring, number: Int) -> String? {
        let line = Self.trimmed(raw)
        guard let first = line.first, first != "#", first != ";" else { return nil }
        guard let equals = line.firstIndex(of: "=") else { return "must be NAME=value, or begin with #" }
        let name = String(line[..<equals])
        guard name.utf8.allSatisfy(Self.isNameByte), !name.isEmpty else {
            return "must begin with the name of a setting, without spaces around ="
        }
        guard Setting.all.contains(where: { $0.name == name }) else {
            return "\(name) is not a setting; see enfilade settings --example"
        }
        guard let value = Self.unquoted(Self.trimmed(line[line.index(after: equals)...])) else {
            return "\(name) holds a quote or backslash that systemd, a shell and this program would read differently"
        }
        if let earlier = entries[name] { return "\(name) is in line \(earlier.line) already" }
        entries[name] = Entry(text: value, line: number)
        return nil
    }

    /// The value between quotes, if there are any; `nil` when what remains could mean something else elsewhere.
    private static func unquoted(_ text: Substring) -> String? {
        var value = text
        if let quote = text.first, quote == "\"" || quote == "'" {
            guard text.count > 1, text.last == quote else { return nil }
            value = text.dropFirst().dropLast()
        }
        return value.contains { $0 == "\"" || $0 == "'" || $0 == "\\" } ? nil : String(value)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
    }

    private static func fault(_ path: String, _ detail: String) -> SettingFault {
        SettingFault(name: path, detail: detail)
    }
}

extension SettingFaults {
    init(_ fault: SettingFault) { faults = [fault] }
}
