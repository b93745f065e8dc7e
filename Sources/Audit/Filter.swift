import API
import Domain
import Wire

/// Which entries a reader wants to see.
struct Filter: Hashable, Sendable {
    /// An action by its name, or all whose names begin in the same way.
    enum Action: Hashable, Sendable {
        case exactly(String)
        case beginning(String)

        /// Takes dotted words, the last of which may be `*`.
        init?(_ text: String) {
            guard text.utf8.count <= 64 else { return nil }
            var words = text.split(separator: ".", omittingEmptySubsequences: false)
            let isBeginning = words.count > 1 && words.last == "*"
            if isBeginning { words.removeLast() }
            guard !words.isEmpty, words.allSatisfy({ Self.isWord($0.utf8) }) else { return nil }
            self = isBeginning ? .beginning(String(text.dropLast())) : .exactly(text)
        }

        private static func isWord(_ bytes: Substring.UTF8View) -> Bool {
            func isSmall(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
            guard let first = bytes.first, isSmall(first) else { return false }
            return bytes.allSatisfy { byte in
                isSmall(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
            }
        }

        var text: String {
            switch self {
            case .exactly(let name): name
            case .beginning(let name): name + "*"
            }
        }

        /// The names meant: the list of what is audited is closed.
        var names: [String] {
            switch self {
            case .exactly(let name): [name]
            case .beginning(let name): Deed.Action.allCases.map(\.rawValue).filter { $0.hasPrefix(name) }
            }
        }
    }

    let actor: String?
    let action: Action?
    let target: String?
    let outcome: Deed.Outcome?
    let from: Instant?
    let to: Instant?

    init(_ parameters: Parameters) throws(Failure) {
        actor = try Self.id("actor", parameters)
        target = try Self.id("target", parameters)
        outcome = try parameters.choice("outcome", of: Deed.Outcome.self)
        from = try parameters.instant("from")
        to = try parameters.instant("to")
        let text = parameters["action"]
        action = text.flatMap(Action.init)
        guard text == nil || action != nil else {
            throw .invalid("?action", "must be an action, or its beginning up to a dot and *")
        }
    }

    /// What the audit log keeps of a reader's question.
    var facts: JSON? {
        let given: [(String, String?)] = [
            ("actor", actor), ("action", action?.text), ("target", target), ("outcome", outcome?.rawValue),
            ("from", from?.rfc3339), ("to", to?.rfc3339),
        ]
        let members = given.compactMap { name, value in value.map { (key: name, value: JSON.string($0)) } }
        return members.isEmpty ? nil : .object(JSON.Object(members))
    }

    /// Visible ASCII; a UUID in the case that is stored.
    private static func id(_ name: String, _ parameters: Parameters) throws(Failure) -> String? {
        guard let text = parameters[name] else { return nil }
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalid("?\(name)", "must have 1 to 128 visible ASCII characters")
        }
        return UUID(text)?.description ?? text
    }
}
