/// Why a statement or a lease failed.
public enum PostgresError: Error, Sendable, Equatable {
    /// The server refused the statement.
    case server(Fault)
    /// The connection ended before the answer; nothing of the open transaction has been committed.
    case connectionLost
    /// The connection ended while a commit was under way: it may or may not have happened.
    case commitUnknown
    /// No lane has a connection now, and the last attempt to make one failed. The reason is for operators only.
    case unavailable(reason: String)
    /// Too many were waiting for a lane, or this one waited for too long.
    case saturated
    /// The task was cancelled while it waited for a lane; nothing has run.
    case cancelled
    /// A column is absent, NULL or of another type than the program reads.
    case decoding(column: Int)
    /// The program used a connection in a way that cannot be right.
    case misuse(StaticString)

    /// What the server said.
    public struct Fault: Sendable, Equatable {
        public let sqlstate: String
        public let constraint: String?
        public let table: String?
        /// The server's words, which can quote values: for operators, never for clients.
        public let message: String
        /// The connection ended with this: shut down, terminated, idle in a transaction for too long, crashed.
        let isFatal: Bool
        /// A prepared statement no longer fits the tables it was made for; the next attempt prepares it anew.
        public let isStale: Bool
    }

    public static func == (left: PostgresError, right: PostgresError) -> Bool {
        switch (left, right) {
        case (.server(let left), .server(let right)): left == right
        case (.unavailable(let left), .unavailable(let right)): left == right
        case (.decoding(let left), .decoding(let right)): left == right
        case (.misuse(let left), .misuse(let right)): left.description == right.description
        case (.connectionLost, .connectionLost), (.commitUnknown, .commitUnknown), (.saturated, .saturated),
            (.cancelled, .cancelled):
            true
        default: false
        }
    }
}

extension PostgresError {
    public var fault: Fault? {
        guard case .server(let fault) = self else { return nil }
        return fault
    }

    public var sqlstate: String? { fault?.sqlstate }

    /// The whole transaction, run again, may well succeed: deadlock, serialisation failure, outdated plan.
    public var isRetryable: Bool {
        guard let fault else { return false }
        return fault.sqlstate == "40001" || fault.sqlstate == "40P01" || fault.isStale
    }

    /// A statement or lock took longer than allowed, or was cancelled.
    public var isTimeout: Bool { sqlstate == "57014" || sqlstate == "55P03" }

    /// A unique constraint was violated: the named one, or any.
    public func isUniqueViolation(_ constraint: String? = nil) -> Bool {
        guard let fault, fault.sqlstate == "23505" else { return false }
        return constraint == nil || fault.constraint == constraint
    }

    /// A foreign key was violated: the named one, or any.
    public func isForeignKeyViolation(_ constraint: String? = nil) -> Bool {
        guard let fault, fault.sqlstate == "23503" else { return false }
        return constraint == nil || fault.constraint == constraint
    }
}

extension PostgresError: CustomStringConvertible {
    /// Names the error without any value that a statement carried.
    public var description: String {
        switch self {
        case .server(let fault):
            let place = [fault.table, fault.constraint].compactMap(\.self).map { " \($0)" }.joined()
            return "PostgreSQL refused the statement: \(fault.sqlstate)\(place)"
        case .connectionLost: return "the connection to PostgreSQL was lost"
        case .commitUnknown: return "the connection to PostgreSQL was lost during commit"
        case .unavailable: return "PostgreSQL is not available"
        case .saturated: return "no database connection became free in time"
        case .cancelled: return "cancelled while waiting for a database connection"
        case .decoding(let column): return "column \(column) is not what the program reads"
        case .misuse(let what): return "misuse of a connection: \(what)"
        }
    }
}
