import HTTP

// The words for what the HTTP room refuses by itself.

extension Refusal {
    var type: StaticString {
        switch kind {
        case .badRequest: "invalid-request"
        case .notFound: "not-found"
        case .methodNotAllowed: "method-not-allowed"
        case .notAcceptable: "not-acceptable"
        case .payloadTooLarge: "payload-too-large"
        case .uriTooLong: "uri-too-long"
        case .unsupportedMediaType: "unsupported-media-type"
        case .expectationFailed: "expectation-failed"
        case .headersTooLarge: "headers-too-large"
        case .notImplemented: "not-implemented"
        case .draining, .overloaded: "unavailable"
        case .versionNotSupported: "version-not-supported"
        }
    }

    var title: StaticString {
        switch kind {
        case .badRequest: "Invalid request"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .notAcceptable: "Not acceptable"
        case .payloadTooLarge: "Too large"
        case .uriTooLong: "URL too long"
        case .unsupportedMediaType: "Unsupported media type"
        case .expectationFailed: "Expectation failed"
        case .headersTooLarge: "Headers too large"
        case .notImplemented: "Not implemented"
        case .draining: "Restarting"
        case .overloaded: "Too busy"
        case .versionNotSupported: "HTTP version not supported"
        }
    }

    var headers: [(String, String)] {
        switch kind {
        case .draining, .overloaded: [("Retry-After", "2")]
        default: []
        }
    }
}
