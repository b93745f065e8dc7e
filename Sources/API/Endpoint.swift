public import Domain
public import HTTP

/// One route, who may call it, and what it does.
public protocol Endpoint: Sendable {
    static var route: Route { get }
    static var access: Access { get }

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response

    /// An answer that needs no waiting, given on the connection's own thread; `nil` when there is none.
    func immediate(to request: Request, from caller: Caller) throws(Failure) -> Response?
}

extension Endpoint {
    public func immediate(to request: Request, from caller: Caller) throws(Failure) -> Response? { nil }

    public var mounted: Mounted {
        Mounted(route: Self.route) { gate in GuardedHandler(endpoint: self, gate: gate) }
    }
}

/// A route that anybody may call.
public protocol OpenEndpoint: Sendable {
    static var route: Route { get }

    func respond(to request: Request) async throws(Failure) -> Response
}

extension OpenEndpoint {
    public var mounted: Mounted {
        Mounted(route: Self.route) { gate in OpenHandler(endpoint: self, gate: gate) }
    }
}

/// A route that anybody may call, answered on the connection's own thread: it must not wait.
public protocol InstantEndpoint: Sendable {
    static var route: Route { get }

    func respond(to request: Request) throws(Failure) -> Response
}

extension InstantEndpoint {
    public var mounted: Mounted {
        Mounted(route: Self.route) { gate in InstantHandler(endpoint: self, gate: gate) }
    }
}

/// An endpoint on its way into the router.
public struct Mounted: Sendable {
    public let route: Route
    public let handler: @Sendable (Gate) -> any Handler

    /// As it is, or with the operator's limit when it has the usual one.
    public func within(_ bytes: Int) -> Mounted {
        guard case .limited(Route.smallBody, _) = route.body else { return self }
        return limited(to: bytes)
    }

    /// The same with another limit for the body: routes are constants, limits are settings.
    public func limited(to bytes: Int) -> Mounted {
        guard case .limited(_, let mediaTypes) = route.body else { return self }
        var route = route
        route.body = .limited(bytes: bytes, mediaTypes: mediaTypes)
        return Mounted(route: route, handler: handler)
    }
}

/// Who may call an endpoint: any one of the scopes, and perhaps only from an enrolled device.
public struct Access: Sendable {
    public let anyOf: Scopes
    public let needsDevice: Bool

    /// Whoever has signed in.
    public static let signedIn = Access(anyOf: [], needsDevice: false)

    public static func scope(_ scopes: Scope...) -> Access { Access(anyOf: Scopes(scopes), needsDevice: false) }

    public static func device(_ scopes: Scope...) -> Access { Access(anyOf: Scopes(scopes), needsDevice: true) }

    func check(_ caller: Caller) throws(Failure) {
        guard anyOf.isEmpty || !anyOf.isDisjoint(with: caller.scopes) else {
            throw .lacksScope(anyOf)
        }
    }
}
