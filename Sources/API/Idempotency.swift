public import Domain
public import HTTP
public import Store
public import Wire

extension Transaction {
    /// Makes something at most once for an `Idempotency-Key`: a retry with the same body gets the first answer.
    ///
    /// Kept for 24 hours, for one account, app and route. Answers that hold a secret must not come through here.
    /// `body` is what was asked, in a form that is the same for the same parsed fields.
    public func once(
        _ request: Request, by caller: Caller, asked body: JSON, _ make: () throws(Failure) -> Response
    ) throws(Failure) -> Response {
        guard let text = request.head.headers["idempotency-key"] else { return try make() }
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters")
        }
        let route = "\(request.head.method.rawValue) \(request.head.rawPath)"
        let key = ReplyKey(account: caller.account, app: caller.app, route: route, key: text)
        let digested = body.canonical()
        try takeTurn(key)
        if let kept = try keptReply(key, to: digested) { return Response(kept) }
        let response = try make()
        if case .bytes(let bytes) = response.body {
            let reply = KeptReply(
                status: response.status, location: response["Location"], etag: response["ETag"], body: bytes)
            try keep(reply, for: key, to: digested)
        }
        return response
    }
}

extension Response {
    fileprivate init(_ kept: KeptReply) {
        self = .json(kept.status, location: kept.location, bytes: kept.body)
        if let etag = kept.etag { add("ETag", etag) }
    }
}
