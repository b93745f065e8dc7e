import Lanes

/// What every request needs; made once per server and shared by all threads.
final class Core: Sendable {
    let settings: Server.Settings
    let router: Router
    let refuse: @Sendable (Refusal, String) -> Response
    let observe: @Sendable (Exchange) -> Void
    let requestID: @Sendable (Headers) -> String
    let decorate: @Sendable (inout Response, RequestHead) -> Void
    let connections: Connections
    let lingerer = Lingerer()
    let gate = Gate()
    let runners = Runners()
    let bodies: Bodies
    let engine: StreamEngine
    let timeouts: Timeouts
    let headLimits: HeadReader.Limits

    /// The settings' durations in nanoseconds.
    struct Timeouts: Sendable {
        let idle: Int64
        let header: Int64
        let body: Int64
        let bodyWindow: Int64
        let answer: Int64
        let proxyIdle: Int64
    }

    init(
        settings: Server.Settings, router: Router,
        refuse: @escaping @Sendable (Refusal, String) -> Response,
        observe: @escaping @Sendable (Exchange) -> Void,
        requestID: @escaping @Sendable (Headers) -> String,
        decorate: @escaping @Sendable (inout Response, RequestHead) -> Void
    ) {
        self.settings = settings
        self.router = router
        self.refuse = refuse
        self.observe = observe
        self.requestID = requestID
        self.decorate = decorate
        connections = Connections(
            limit: settings.connectionLimit, limitPerAddress: settings.connectionsPerAddress,
            countsLoopback: settings.countsLoopback, isProxy: settings.isProxy)
        bodies = Bodies(bound: settings.bodiesInFlight)
        engine = StreamEngine(settings.streams)
        headLimits = HeadReader.Limits(
            fieldBytes: settings.headerBytes, fieldCount: settings.headerCount, targetBytes: settings.targetBytes)
        timeouts = Timeouts(
            idle: Monotonic.nanoseconds(settings.idleTimeout), header: Monotonic.nanoseconds(settings.headerTimeout),
            body: Monotonic.nanoseconds(settings.bodyTimeout),
            bodyWindow: Monotonic.nanoseconds(settings.bodyWindow),
            answer: Monotonic.nanoseconds(settings.answerTimeout),
            proxyIdle: Monotonic.nanoseconds(settings.proxyIdleTimeout))
    }

    /// Our answer to a request that is not passed on.
    func refusal(_ refusal: Refusal, _ requestID: String) -> Response {
        gate.countRefusal()
        var response = refuse(refusal, requestID)
        if case .methodNotAllowed(let methods) = refusal.kind { response.set("Allow", Core.list(methods)) }
        if refusal.endsConnection { response.set("Connection", "close") }
        return response
    }

    /// What is told to whoever waits to be accepted when the server stops.
    func refusalOfBacklog() -> [UInt8] {
        let head = RequestHead(
            method: .get, rawPath: "", peer: Address(bytes: [127, 0, 0, 1], port: 0), id: requestID(Headers()))
        var response = refusal(Refusal(.draining, "The server is stopping."), head.id)
        decorate(&response, head)
        return response.closing()
    }

    static func list(_ methods: [Method]) -> String {
        methods.map(\.rawValue).joined(separator: ", ")
    }
}
