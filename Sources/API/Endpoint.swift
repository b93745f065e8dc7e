package import Domain
package import HTTP

/// One route, who may call it, and what it does.
package protocol Endpoint: Sendable {
    static var route: Route { get }
    static var access: Access { get }

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response

    /// An answer that needs no waiting, given on the connection's own thread; `nil` when there is none.
    func immediate(to request: Request, from caller: Caller) throws(Failure) -> Response?
}

extension Endpoint {
    package func immediate(to request: Request, from caller: Caller) throws(Failure) -> Response? { nil }

    package var mounted: Mounted {
        Mounted(route: Self.route) { gate in GuardedHandler(endpoint: self, gate: gate) }
    }
}

/// A route that anybody may call.
package protocol OpenEndpoint: Sendable {
    static var route: Route { get }

    func respond(to request: Request) async throws(Failure) -> Response
}

extension OpenEndpoint {
    package var mounted: Mounted {
        Mounted(route: Self.route) { gate in OpenHandler(endpoint: self, gate: gate) }
    }
}

/// A route that anybody may call, answered on the connection's own thread: it must not wait.
package protocol InstantEndpoint: Sendable {
    static var route: Route { get }

    func respond(to request: Request) throws(Failure) -> Response
}

extension InstantEndpoint {
    package var mounted: Mounted {
        Mounted(route: Self.route) { gate in InstantHandler(endpoint: self, gate: gate) }
    }
}

/// An endpoint on its way into the router.
package struct Mounted: Sendable {
    package let route: Route
    package let handler: @Sendable (Gate) -> any Handler

    /// As it is, or with the operator's limit when it has the usual one.
    package func within(_ bytes: Int) -> Mounted {
        guard case .limited(Route.smallBody, _) = route.body else { return self }
        return limited(to: bytes)
    }

    /// The same with another limit for the body: routes are constants, limits are settings.
    package func limited(to bytes: Int) -> Mounted {
        guard case .limited(_, let mediaTypes) = route.body else { return self }
        var route = route
        route.body = .limited(bytes: bytes, mediaTypes: mediaTypes)
        return Mounted(route: route, handler: handler)
    }
}

/// Who may call an endpoint: any one of the scopes, and perhaps only from an enrolled device.
package struct Access: Sendable {
    package let anyOf: Scopes
    package let needsDevice: Bool

    /// Whoever has signed in.
    package static let signedIn = Access(anyOf: [], needsDevice: false)

    package static func scope(_ scopes: Scope...) -> Access { Access(anyOf: Scopes(scopes), needsDevice: false) }

    package static func device(_ scopes: Scope...) -> Access { Access(anyOf: Scopes(scopes), needsDevice: true) }

    func check(_ caller: Caller) throws(Failure) {
        guard anyOf.isEmpty || !anyOf.isDisjoint(with: caller.scopes) else {
            throw .lacksScope(anyOf)
        }
    }
}
