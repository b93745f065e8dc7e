/// Why the server itself does not pass a request on.
public struct Refusal: Sendable, Error, Equatable {
    public enum Kind: Sendable, Hashable {
        case badRequest
        case notFound
        /// The methods that the path does know, in declaration order.
        case methodNotAllowed([Method])
        case notAcceptable
        case payloadTooLarge
        case uriTooLong
        case unsupportedMediaType
        case expectationFailed
        case headersTooLarge
        case notImplemented
        case draining
        case overloaded
        case versionNotSupported
    }

    public let kind: Kind
    /// Fixed text for people; never holds what the client sent.
    public let detail: StaticString

    public init(_ kind: Kind, _ detail: StaticString) {
        self.kind = kind
        self.detail = detail
    }

    public static func == (left: Refusal, right: Refusal) -> Bool {
        left.kind == right.kind && left.detail.description == right.detail.description
    }

    public var status: Int {
        switch kind {
        case .badRequest: 400
        case .notFound: 404
        case .methodNotAllowed: 405
        case .notAcceptable: 406
        case .payloadTooLarge: 413
        case .uriTooLong: 414
        case .unsupportedMediaType: 415
        case .expectationFailed: 417
        case .headersTooLarge: 431
        case .notImplemented: 501
        case .draining, .overloaded: 503
        case .versionNotSupported: 505
        }
    }

    /// Whether what follows on the connection can still be trusted to be a request.
    var endsConnection: Bool {
        switch kind {
        case .notFound, .methodNotAllowed, .notAcceptable: false
        case .badRequest, .payloadTooLarge, .uriTooLong, .unsupportedMediaType: true
        case .expectationFailed, .headersTooLarge, .notImplemented, .draining, .overloaded: true
        case .versionNotSupported: true
        }
    }
}
