import API
import Domain
import HTTP
import Store
import Wire

struct ReportConfiguration: Endpoint {
    static let route = Route.post("/v1/config/reports")
    static let access = Access.device(.config)
    static let mostReasons = 100
    /// How many of them the audit log is told; the report itself has all.
    private static let auditedReasons = 10
    let database: Database
    let limit: RateLimit<DeviceID>

    struct Asked: Sendable {
        let revision: Int64
        let state: Report.State?
        let reasons: [ReportReason]
    }

    func respond(to request: Request, from caller: Caller) async throws(Failure) -> Response {
        guard let device = caller.device else { throw .forbidden("this session has no device yet") }
        _ = try request.parameters()
        let asked = try request.parse(Self.read)
        guard let state = asked.state else { throw .invalid("/state", "is missing") }
        try limit.spend(device, at: database.clock.now(), else: "A device reports less often than this.")
        try await database.transaction { (tx) throws(Failure) in
            let isKnown = asked.revision == 0 ? true : try tx.hasRevision(asked.revision, of: caller.app)
            guard isKnown else { throw .invalid("/revision", "was never published to this app") }
            let report = Report(
                device: device, account: caller.account, revision: asked.revision, state: state,
                reasons: asked.reasons.isEmpty ? nil : JSON.array(asked.reasons.map(\.json)).encoded(),
                reportedAt: tx.now)
            // A device that says the same again has done nothing new.
            guard try tx.save(report, of: caller.app) else { return }
            tx.record(Self.deed(report, asked.reasons, in: caller.app), by: caller.actor)
        }
        return .noContent
    }

    static func read(_ fields: inout Fields) -> Asked {
        let revision = fields.integer("revision", in: 0...maxRevision)
        let state = fields.choice("state", of: Report.State.self)
        let reasons = fields.optionalList("reasons", count: 0...mostReasons) { ReportReason(&$0) }
        if state == .applied, reasons?.isEmpty == false { fields.fault("reasons", "belong to state rejected") }
        return Asked(revision: revision, state: state, reasons: reasons ?? [])
    }

    /// The keys and codes of the first reasons, not their words, which may quote values.
    private static func deed(_ report: Report, _ reasons: [ReportReason], in app: AppID) -> Deed {
        var after: JSON.Object = [
            "device": .string(report.device.description),
            "revision": .number(JSON.Number(report.revision)),
            "state": .string(report.state.rawValue),
        ]
        if !reasons.isEmpty {
            after["reasonCount"] = .number(JSON.Number(Int64(reasons.count)))
            after["reasons"] = .array(
                reasons.prefix(auditedReasons).map { ["key": .string($0.key), "code": .string($0.code)] })
        }
        return Deed(.configurationReported, of: .configuration(app), after: .object(after))
    }
}
