import API
import Domain

extension AppRegistration {
    init(_ fields: inout Fields) {
        name = fields.text("name", 1...128)
        let kind = fields.choice("kind", of: Kind.self)
        self.kind = kind ?? .app
        parent = fields.parent(for: kind)
        teamID = fields.optionalText("teamId", 10...10, "must be 10 capital letters and digits") { text in
            text.utf8.allSatisfy { Ascii.isUpper($0) || Ascii.isDigit($0) }
        }
        bundleID = fields.optionalText(
            "bundleId", 1...155, "must be words of letters, digits and '-' with dots between"
        ) {
            Self.isBundleID($0)
        }
        redirectURIs = fields.set(
            "redirectUris", atMost: 16,
            "must be https, http on 127.0.0.1 or [::1], or a private-use scheme with a dot; no user, fragment, wildcard",
            WebAddress.isRedirect)
        scopes = fields.scopes(for: kind)
        sharingGroup = fields.optionalText("sharingGroup", 1...63, "must match ^[a-z0-9][a-z0-9.-]*$") { text in
            text.first != "." && text.first != "-" && text.utf8.allSatisfy { Ascii.isNameByte($0, or: ".-") }
        }
        universalLinks =
            fields.optionalSet("universalLinks", atMost: 32, "must be https:// with a host", WebAddress.isUniversalLink)
            ?? []
        urlScheme = fields.optionalText("urlScheme", 2...63, "must match ^[a-z][a-z0-9+.-]+$, and not be the web's own")
        {
            Self.isURLScheme($0)
        }
    }

    private static func isBundleID(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy { Ascii.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isURLScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, Ascii.isLower(first), text != "http", text != "https" else { return false }
        return text.utf8.allSatisfy { Ascii.isNameByte($0, or: "+.-") }
    }
}

extension Fields {
    fileprivate mutating func parent(for kind: AppRegistration.Kind?) -> AppID? {
        let before = faults.count
        let parent = optionalText("parent", 2...63, "must be the id of an app") { AppID($0) != nil }
        guard faults.count == before else { return nil }
        switch kind {
        case .extension where parent == nil: fault("parent", "is missing: an extension belongs to an app")
        case .app where parent != nil: fault("parent", "belongs to extensions only")
        default: break
        }
        return parent.flatMap { AppID($0) }
    }

    fileprivate mutating func scopes(for kind: AppRegistration.Kind?) -> Scopes {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        let texts = set("scopes", atMost: 16, "must be one of \(known)") { Scope(rawValue: $0) != nil }
        let scopes = Scopes(texts.compactMap(Scope.init(rawValue:)))
        if kind == .extension, scopes.contains(.mailbox) {
            fault("scopes", "an extension may ask for mailbox.read, never for mailbox")
        }
        return scopes
    }
}

extension Ascii {
    fileprivate static func isNameByte(_ byte: UInt8, or others: StaticString) -> Bool {
        isLower(byte) || isDigit(byte) || isOne(byte, of: others)
    }
}
