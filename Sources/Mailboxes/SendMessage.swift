import API
import Domain
import HTTP

/// Takes a message for every device of its recipients, all or nothing; answered when it is durable.
struct SendMessage: Endpoint {
    static let route = Route.post("/v1/messages")
    static let access = Access.device(.mailbox)

    let committer: Committer
    let limits: Mailboxes.Limits
    let rates: SendLimit
    let clock: any Clock

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let device = caller.device else { throw .forbidden("this session has no device yet") }
        _ = try request.parameters()
        let now = clock.now()
        let draft = try request.parse { Draft(&$0, from: caller, device, within: limits, at: now) }
        let standings = try rates.spend(draft, at: now)
        let receipt = try await committer.send(draft)
        var response = Response.json(receipt.isRepeated ? 200 : 201) { receipt.message.write(to: &$0) }
        response.add(standings)
        return response
    }
}
