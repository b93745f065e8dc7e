import Domain

extension Failure {
    /// What an operator at the command line needs to know.
    var forOperators: String {
        switch self {
        case .invalid(let faults), .missingParts(let faults):
            faults.map { "\($0.pointer) \($0.detail)" }.joined(separator: "; ")
        case .unauthenticated: "not signed in"
        case .forbidden(let detail), .missing(let detail), .tooLarge(let detail), .limited(_, let detail, _):
            "\(detail)"
        case .lacksScope: "it needs another scope"
        case .conflict(.usernameTaken): "another account has this username"
        case .conflict(.appTaken): "another app has this id"
        case .conflict(.appInUse(let detail)), .conflict(.state(let detail)): "\(detail)"
        case .conflict(.deviceKeyTaken), .conflict(.deviceSet), .conflict(.messageIDUsed):
            "it conflicts with what is there"
        case .outdated, .unconditional: "it changed meanwhile"
        case .idempotencyKeyReused: "the idempotency key came with other content before"
        case .busy: "the server is busy; try again"
        case .unavailable(let cause): "\(cause); is PostgreSQL running, and is the URL right?"
        case .broken(let cause): cause
        }
    }
}
