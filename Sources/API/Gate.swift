public import Domain
public import HTTP
import Wire

/// Proves who is calling.
///
/// Made by the feature that issues tokens.
public protocol Authenticator: Sendable {
    /// Judges a token from memory alone: signature, life, and whether its session is known to have ended.
    func judge(_ token: String, requestID: String) throws(Failure) -> Standing

    /// Judges a token by its session's row, device included.
    func confirm(_ token: String, requestID: String) async throws(Failure) -> Caller
}

/// What can be said of a token without waiting.
public enum Standing: Sendable {
    case proven(Caller)
    /// This node has not heard from the database lately, so the session must be looked up.
    case unsure
}

/// What stands in front of every endpoint.
public final class Gate: Sendable {
    public let authenticator: any Authenticator
    public let observe: Observe
    /// What one account may ask on this node, whatever it is.
    private let requests: RateLimit<AccountID>
    private let clock: any Clock

    public init(
        authenticator: any Authenticator, requests: Rate, clock: any Clock, observe: @escaping Observe
    ) {
        self.authenticator = authenticator
        self.requests = RateLimit(requests)
        self.clock = clock
        self.observe = observe
    }

    /// Lets a caller in who may do this, and has not asked for too much already.
    func pass(_ caller: Caller, _ access: Access) throws(Failure) {
        try access.check(caller)
        try requests.spend(caller.account, at: clock.now(), else: "This account asks for more than one may.")
    }

    /// The one place where a failure becomes an answer, and is told to operators when it was ours.
    func answer(_ failure: Failure, to head: RequestHead) -> Response {
        switch failure {
        case .broken(let cause), .unavailable(let cause):
            observe(.failed(requestID: head.id, route: head.routePattern, cause: cause))
        case .busy(let queue): observe(.turnedAway(from: queue))
        case .limited(_, _, let standing?): observe(.limited(by: standing.rate.name))
        default: break
        }
        return Problem.response(to: failure, requestID: head.id)
    }
}

/// Classes, since handlers are handed on with every request.
final class GuardedHandler<E: Endpoint>: Handler {
    private let endpoint: E
    private let gate: Gate

    init(endpoint: E, gate: Gate) {
        self.endpoint = endpoint
        self.gate = gate
    }

    func admit(_ head: RequestHead) -> Admission {
        do throws(Failure) {
            guard case .proven(let caller) = try gate.authenticator.judge(try head.bearerToken(), requestID: head.id)
            else { return .admitted(self) }
            try E.access.check(caller)
            // Without a body there is no time between head and end in which a session could end.
            return .admitted(head.announcesBody ? self : Admitted(handler: self, caller: caller))
        } catch {
            return .refused(gate.answer(error, to: head))
        }
    }

    func handle(_ request: Request) -> Outcome {
        do throws(Failure) {
            let standing = try gate.authenticator.judge(try request.head.bearerToken(), requestID: request.head.id)
            guard case .proven(let caller) = standing else {
                return .later { await self.confirmAndRespond(to: request) }
            }
            return handle(request, from: caller)
        } catch {
            return .now(gate.answer(error, to: request.head))
        }
    }

    fileprivate func handle(_ request: Request, from caller: Caller) -> Outcome {
        do throws(Failure) {
            guard caller.device != nil || !E.access.needsDevice else {
                return .later { await self.confirmAndRespond(to: request) }
            }
            try gate.pass(caller, E.access)
            if let response = try endpoint.immediate(to: request, from: caller) { return .now(response) }
            return .later { await self.respond(to: request, from: caller) }
        } catch {
            return .now(gate.answer(error, to: request.head))
        }
    }

    private func confirmAndRespond(to request: Request) async -> Response {
        do throws(Failure) {
            let token = try request.head.bearerToken()
            let caller = try await gate.authenticator.confirm(token, requestID: request.head.id)
            try gate.pass(caller, E.access)
            guard caller.device != nil || !E.access.needsDevice else {
                throw .forbidden("this session has no device yet: enrol it with POST /v1/devices")
            }
            return await respond(to: request, from: caller)
        } catch {
            return gate.answer(error, to: request.head)
        }
    }

    private func respond(to request: Request, from caller: Caller) async -> Response {
        do throws(Failure) {
            return try await endpoint.respond(to: request, from: caller)
        } catch {
            return gate.answer(error, to: request.head)
        }
    }
}

/// The handler of one request, whose caller was found when its head was read.
private final class Admitted<E: Endpoint>: Handler {
    private let handler: GuardedHandler<E>
    private let caller: Caller

    init(handler: GuardedHandler<E>, caller: Caller) {
        self.handler = handler
        self.caller = caller
    }

    func handle(_ request: Request) -> Outcome { handler.handle(request, from: caller) }
}

struct OpenHandler<E: OpenEndpoint>: Handler {
    let endpoint: E
    let gate: Gate

    func handle(_ request: Request) -> Outcome {
        .later {
            do throws(Failure) {
                return try await endpoint.respond(to: request)
            } catch {
                return gate.answer(error, to: request.head)
            }
        }
    }
}

struct InstantHandler<E: InstantEndpoint>: Handler {
    let endpoint: E
    let gate: Gate

    func handle(_ request: Request) -> Outcome {
        do throws(Failure) {
            return .now(try endpoint.respond(to: request))
        } catch {
            return .now(gate.answer(error, to: request.head))
        }
    }
}

extension RequestHead {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); nothing else is looked at.
    public func bearerToken() throws(Failure) -> String {
        guard let header = headers["authorization"] else { throw .unauthenticated(.noToken) }
        let scheme = "bearer ".utf8
        // Setting the sixth bit makes letters small, and of nothing else a letter or a blank.
        let start = header.utf8.prefix(scheme.count).map { $0 | 0x20 }
        guard header.utf8.count > scheme.count, start.elementsEqual(scheme) else { throw .unauthenticated(.badToken) }
        return String(Substring(header.utf8.dropFirst(scheme.count)))
    }
}
