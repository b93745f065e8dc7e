import API
import Domain
import HTTP
import Store
import Wire

/// Says that everything up to an item was processed; it is deleted soon after.
struct AcknowledgeMailbox: Endpoint {
    static let route = Route.post("/v1/mailbox/acks")
    static let access = Access.device(.mailbox)

    let database: Database

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let device = caller.device else { throw .forbidden("this session has no device yet") }
        _ = try request.parameters()
        let through = try request.parse { $0.integer("through", in: 0...Sequence.limit) }
        let acked = try await database.transaction { (tx) throws(Failure) in
            if let acked = try tx.acknowledge(through, on: device, for: caller.app) { return acked }
            guard let current = try tx.acknowledged(on: device, for: caller.app) else {
                throw .forbidden("this app has no mailbox of its own on this device")
            }
            guard through <= current.head else {
                throw .invalid("/through", "is beyond the last item, \(current.head)")
            }
            return current.acked
        }
        return .json { writer in
            writer.beginObject()
            writer.field("acked", acked)
            writer.endObject()
        }
    }
}
