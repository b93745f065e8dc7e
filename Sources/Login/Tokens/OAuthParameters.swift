import HTTP
import Wire

/// The parameters of an OAuth request; one without a value counts as left out (RFC 6749 §3.1).
struct OAuthParameters: Sendable {
    /// Names that came more than once, which no request may have (RFC 6749 §3.1, §3.2).
    let repeated: Set<String>
    private let values: [String: String]

    init(_ pairs: [(name: String, value: String)]) {
        var values: [String: String] = [:]
        var repeated: Set<String> = []
        for (name, value) in pairs where values.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        self.values = values.filter { !$0.value.isEmpty }
        self.repeated = repeated
    }

    /// The parameters of a form, none of them repeated.
    init(form body: [UInt8]) throws(OAuthError) {
        guard let pairs = FormCoding.decode(body) else { throw OAuthError(.invalidRequest, "the form is malformed") }
        self.init(pairs)
        guard repeated.isEmpty else { throw OAuthError(.invalidRequest, "a parameter is given twice") }
    }

    subscript(name: String) -> String? { values[name] }

    func required(_ name: String, _ missing: StaticString) throws(OAuthError) -> String {
        guard let value = values[name] else { throw OAuthError(.invalidRequest, missing) }
        return value
    }
}

extension Route {
    /// Takes a form, as OAuth's endpoints and the sign-in page do.
    static func form(_ pattern: String, produces: String...) -> Route {
        Route(
            .post, pattern, body: .limited(bytes: 64 * 1024, mediaTypes: ["application/x-www-form-urlencoded"]),
            produces: produces)
    }

    static func page(_ pattern: String) -> Route { Route(.get, pattern, produces: ["text/html"]) }
}
