public import Domain
public import Postgres

extension Failure {
    /// The only translation from PostgreSQL's errors to the product's: by SQLSTATE, and by constraint where one is a rule.
    public init(_ error: PostgresError) {
        if let constraint = error.fault?.constraint, let conflict = Self.rules[constraint] {
            self = .conflict(conflict)
        } else if error == .saturated {
            self = .busy(.database)
        } else if error.isTransient {
            self = .unavailable(cause: error.description)
        } else {
            self = .broken(cause: error.description)
        }
    }

    private static let rules: [String: Conflict] = [
        "account_username_key": .usernameTaken,
        "app_pkey": .appTaken,
        "app_parent_fkey": .appInUse("An extension names this app as its parent, or the parent does not exist."),
        "device_identity_key_key": .deviceKeyTaken,
    ]
}

extension PostgresError {
    /// The same request may succeed a little later, without anybody mending the program.
    fileprivate var isTransient: Bool {
        switch self {
        case .connectionLost, .commitUnknown, .unavailable, .cancelled: true
        case .saturated, .decoding, .misuse: false
        case .server(let fault):
            // 08 connections, 25006 a standby, 40 rolled back, 53 resources, 55P03 locks, 57 cancelled or shut down, 58 system.
            ["08", "40", "53", "57", "58"].contains(fault.sqlstate.prefix(2)) || fault.sqlstate == "55P03"
                || fault.sqlstate == "25006"
        }
    }
}
