import CMicroHTTPD
import Glibc
import Synchronization

// From the head to the decision whether the body is read.
extension Call {
    /// What is known once the head was read.
    private struct Reading {
        var head: RequestHead
        var method: Method?
        /// What the path leads to; nil for `*`, and when there is something to refuse.
        var match: Router.Match?
        var framing: HeadReader.Framing
        var refusal: Refusal?

        var hasBody: Bool {
            switch framing {
            case .none: false
            case .length(let count): count > 0
            case .chunked: true
            }
        }
    }

    /// An answer that needs no body, or the handler that waits for it.
    private enum Decision {
        case answer(Response)
        case wait(any Handler, bodyLimit: Int)
    }

    /// The first call for a request.
    ///
    /// An answer queued here closes the connection, which is what a refusal wants that leaves a body unread; other
    /// answers are kept for the last call.
    func begin(
        _ handle: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> MHD_Result {
        let reading = read(handle, method: method, version: version)
        let decision: Decision
        do throws(Refusal) {
            decision = try decide(reading)
        } catch {
            let response = core.refusal(error, reading.head.id)
            remember(reading, handler: nil, limit: 0)
            if error.endsConnection || reading.hasBody { return leave(response, handle) }
            state.withLock { $0.answer = response }
            return .YES
        }
        switch decision {
        case .answer(let response):
            remember(reading, handler: nil, limit: 0)
            if reading.hasBody { return leave(response, handle) }
            state.withLock { $0.answer = response }
        case .wait(let handler, let limit):
            remember(reading, handler: handler, limit: limit)
        }
        return .YES
    }

    /// Answers at once, whatever else was sent.
    private func leave(_ response: Response, _ handle: OpaquePointer) -> MHD_Result {
        connection.leavesBody = true
        return queue(response, handle)
    }

    private func remember(_ reading: Reading, handler: (any Handler)?, limit: Int) {
        let bodyEnd = Monotonic.now() + core.timeouts.body
        if reading.hasBody {
            connection.expect(.body, by: min(bodyEnd, Monotonic.now() + core.timeouts.bodyWindow))
        } else {
            connection.expectNothing()
        }
        state.withLock { state in
            state.phase = .body
            state.head = reading.head
            if connection.isProxy { state.client = core.settings.client(reading.head) }
            state.target = []
            state.requestID = reading.head.id
            state.routePattern = reading.head.routePattern.isEmpty ? nil : reading.head.routePattern
            state.methodName = reading.head.isHead ? Method.head.rawValue : reading.method?.rawValue ?? "OTHER"
            state.handler = handler
            state.bodyLimit = limit
            state.bodyEnd = bodyEnd
            if case .length(let count) = reading.framing { state.body.reserveCapacity(min(count, limit)) }
        }
    }

    private func read(
        _ handle: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> Reading {
        let (targetBytes, targetAddress) = state.withLock { ($0.target, $0.targetAddress) }
        var reader = HeadReader(limits: core.headLimits, checksLayout: Daemon.isOld)
        reader.takeLine(
            method: UInt(bitPattern: method), methodLength: strlen(method), target: targetAddress,
            targetLength: targetBytes.count, version: UInt(bitPattern: version))
        withUnsafeMutablePointer(to: &reader) { pointer in
            _ = MHD_get_connection_values_n(handle, .HEADER_KIND, fieldFound, pointer)
        }
        reader.takeEnd(UInt(bitPattern: method) &+ UInt(chttp_connection_head_size(handle)))
        let versionText = String(cString: version)
        if versionText != "HTTP/1.1", versionText != "HTTP/1.0" {
            reader.refuse(.versionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
        }
        let minorVersion = versionText == "HTTP/1.0" ? 0 : 1
        let known = Method(rawValue: String(cString: method))
        if known == nil { reader.refuse(.notImplemented, "The method is not known.") }
        let framing = reader.finish(minorVersion: minorVersion)
        var target: Target?
        do throws(Refusal) {
            target = try Target(targetBytes, limit: core.headLimits.targetBytes)
        } catch {
            reader.refuse(error.kind, error.detail)
        }
        var match: Router.Match?
        var route = (pattern: "", parameters: [] as [(name: String, value: String)])
        if reader.refusal == nil, let known, case .path(let path) = target?.form {
            let found = core.router.match(known, path)
            if case .found(let index, let parameters) = found {
                route = (core.router.entries[index].route.pattern, parameters)
            }
            match = found
        }
        let head = RequestHead(
            method: known == .head ? .get : known ?? .get, rawPath: target?.rawPath ?? "", isHead: known == .head,
            query: target?.query ?? [], headers: reader.headers, parameters: route.parameters,
            routePattern: route.pattern, peer: connection.peer, minorVersion: minorVersion,
            receivedAt: receivedAt, id: core.requestID(reader.headers))
        return Reading(
            head: head, method: known, match: match, framing: framing, refusal: reader.refusal)
    }

    private func decide(_ reading: Reading) throws(Refusal) -> Decision {
        if let refusal = reading.refusal { throw refusal }
        guard let method = reading.method else { throw Refusal(.notImplemented, "The method is not known.") }
        guard let match = reading.match else {
            guard method == .options else { throw Refusal(.badRequest, "The target * is for OPTIONS only.") }
            return .answer(Call.options(core.router.allMethods))
        }
        guard case .found(let index, _) = match else { return try unrouted(method, match) }
        let entry = core.router.entries[index]
        let limit = try checkBody(entry.route.body, reading)
        guard MediaType.accepts(reading.head.headers.values("Accept"), produces: entry.route.produces) else {
            throw Refusal(.notAcceptable, "None of the accepted media types is available.")
        }
        switch entry.handler.admit(reading.head) {
        case .refused(let response): return .answer(response)
        case .admitted(let handler): return .wait(handler, bodyLimit: limit)
        }
    }

    private func unrouted(_ method: Method, _ match: Router.Match) throws(Refusal) -> Decision {
        switch match {
        case .malformed: throw Refusal(.badRequest, "The path is malformed.")
        case .notAllowed(let methods) where method == .options: return .answer(Call.options(methods))
        case .notAllowed(let methods):
            throw Refusal(.methodNotAllowed(methods), "The method is not allowed on this path.")
        case .missing, .found: throw Refusal(.notFound, "Nothing is at this path.")
        }
    }

    private static func options(_ methods: [Method]) -> Response {
        Response(status: 204, headers: [("Allow", Core.list(methods))])
    }

    /// The number of bytes to read at most.
    private func checkBody(_ rule: BodyRule, _ reading: Reading) throws(Refusal) -> Int {
        guard reading.hasBody else {
            if case .limited(let bytes, _) = rule { return bytes }
            return 0
        }
        guard case .limited(let bytes, let mediaTypes) = rule else {
            throw Refusal(.badRequest, "This request takes no body.")
        }
        if case .length(let count) = reading.framing, count > bytes {
            throw Refusal(.payloadTooLarge, "The body is too large.")
        }
        let coding = reading.head.headers["Content-Encoding"] ?? "identity"
        guard MediaType.isOne(reading.head.headers["Content-Type"], of: mediaTypes),
            Text.equalIgnoringCase(coding, "identity")
        else {
            throw Refusal(.unsupportedMediaType, "The body's media type is not taken here.")
        }
        guard !core.bodies.isFull else {
            core.bodies.countRefusal()
            throw Refusal(.overloaded, "Too many bodies are being received.")
        }
        return bytes
    }
}

/// The library reports one header field.
func fieldFound(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameLength: Int,
    _ value: UnsafePointer<CChar>?, _ valueLength: Int
) -> MHD_Result {
    guard let context, let name else { return .NO }
    let reader = context.assumingMemoryBound(to: HeadReader.self)
    let nameBytes = UnsafeRawBufferPointer(start: name, count: nameLength).bindMemory(to: UInt8.self)
    let valueBytes = UnsafeRawBufferPointer(start: value, count: valueLength).bindMemory(to: UInt8.self)
    reader.pointee.takeField(name: nameBytes, value: valueBytes)
    return .YES
}
