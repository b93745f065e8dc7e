internal import CPostgreSQL

/// A libpq connection in pipeline mode, with its prepared statements.
///
/// What one call needs (BEGIN, a PREPARE, statements, COMMIT) is queued, travels together, and is answered by one round
/// trip. Used by one thread only; knows nothing of what a transaction may do.
final class Pipeline {
    typealias Statement = StatementCache.Statement

    private enum Step {
        case begin
        case prepare(Statement)
        case execute(Statement)
        case commit
        case discard(Statement)
    }

    private let connection: Handle
    private let lifeline: Lifeline
    private let handle: OpaquePointer
    /// The connection is of no more use.
    private(set) var isBroken = false
    /// A refused write is then the program's fault, not a server that became a standby.
    var expectsReadOnly = false
    private var cache: StatementCache
    /// Statements that the server may forget; it is told with the next exchange.
    private var discards: [Statement] = []
    private var steps: [Step] = []
    private var pointers: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Takes over a handle that is connected and in pipeline mode.
    init(handle connection: Handle, statements: Int, lifeline: Lifeline) {
        self.connection = connection
        self.lifeline = lifeline
        handle = connection.pointer
        cache = StatementCache(limit: statements)
    }

    var socket: Int32 { PQsocket(handle) }
    var serverVersion: Int { Int(PQserverVersion(handle)) }
    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }
    var hasFailedTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    func abandon() {
        isBroken = true
    }
}

// MARK: Queueing

extension Pipeline {
    func queue(_ sql: SQL) throws(PostgresError) {
        let statement = try queue(preparing: sql)
        steps.append(.execute(statement))
    }

    func queueBegin(_ sql: SQL) throws(PostgresError) {
        _ = try queue(preparing: sql)
        steps.append(.begin)
    }

    func queueCommit() throws(PostgresError) {
        _ = try queue(preparing: "COMMIT")
        steps.append(.commit)
    }

    private func queue(preparing sql: SQL) throws(PostgresError) -> Statement {
        guard !isBroken else { throw .connectionLost }
        // What is queued may already be sent, which waits as well when the server does not read.
        if steps.isEmpty { lifeline.beginWaiting() }
        let (statement, evicted) = cache.statement(for: sql)
        if let evicted { discards.append(evicted) }
        if !statement.isPrepared && !isBeingPrepared(statement) {
            guard sendPrepare(sql, statement) else { throw unsent() }
            steps.append(.prepare(statement))
        }
        guard sendExecute(sql, statement) else { throw unsent() }
        return statement
    }

    private func isBeingPrepared(_ statement: Statement) -> Bool {
        steps.contains { step in
            guard case .prepare(let other) = step else { return false }
            return other === statement
        }
    }

    private func sendPrepare(_ sql: SQL, _ statement: Statement) -> Bool {
        let types = sql.binds.map(\.type)
        let text = sql.bytes + [0]
        return text.withUnsafeBytes { bytes in
            let text = bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return PQsendPrepare(handle, statement.name, text, Int32(clamping: types.count), types) == 1
        }
    }

    private func sendExecute(_ sql: SQL, _ statement: Statement) -> Bool {
        sql.values.withUnsafeBytes { values in
            pointers.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
            let start = values.assumingMemoryBound(to: CChar.self).baseAddress
            for bind in sql.binds {
                pointers.append(bind.length < 0 ? nil : start?.advanced(by: bind.offset))
                lengths.append(max(bind.length, 0))
            }
            while formats.count < sql.binds.count { formats.append(1) }
            let count = Int32(clamping: sql.binds.count)
            return PQsendQueryPrepared(handle, statement.name, count, pointers, lengths, formats, 1) == 1
        }
    }

    private func queueDiscards() throws(PostgresError) {
        for statement in discards where statement.isPrepared {
            let text = "DEALLOCATE \(statement.name)"
            guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else { throw unsent() }
            steps.append(.discard(statement))
        }
    }

    /// A statement that libpq would not take leaves the pipeline half full: the connection is given up.
    private func unsent() -> PostgresError {
        steps.removeAll()
        lifeline.endWaiting()
        isBroken = true
        return PQstatus(handle) == CONNECTION_BAD ? .connectionLost : .misuse("libpq refused the statement")
    }
}

// MARK: Settling

extension Pipeline {
    private struct Outcome {
        var error: PostgresError?
        var isCommitted = false
    }

    /// Sends what is queued, hands over the answer of every queued statement, and throws the first error.
    ///
    /// Throws `.commitUnknown` when the connection ends while a COMMIT is under way and nothing before it has failed.
    func settle(_ take: (Answer) -> Void) throws(PostgresError) {
        try queueDiscards()
        defer {
            lifeline.endWaiting()
            steps.removeAll(keepingCapacity: true)
            discards.removeAll { !$0.isPrepared }
        }
        var outcome = Outcome()
        if !readAnswers(into: &outcome, take) { isBroken = true }
        if let error = outcome.error { throw error }
        guard isBroken, !outcome.isCommitted else { return }
        let commits = steps.contains { if case .commit = $0 { true } else { false } }
        throw commits ? .commitUnknown : .connectionLost
    }

    /// False when the connection is no longer in step with its server.
    private func readAnswers(into outcome: inout Outcome, _ take: (Answer) -> Void) -> Bool {
        guard PQpipelineSync(handle) == 1 else { return false }
        for step in steps {
            guard let answer = PQgetResult(handle).map(Answer.init) else { return false }
            read(answer, of: step, into: &outcome, take)
            guard !isBroken else { return false }
            // Each command's answer ends with a null; anything else means that we have lost count.
            guard PQgetResult(handle).map(Answer.init) == nil else { return false }
        }
        guard let end = PQgetResult(handle).map(Answer.init) else { return false }
        return PQresultStatus(end.result) == PGRES_PIPELINE_SYNC
    }

    private func read(_ answer: Answer, of step: Step, into outcome: inout Outcome, _ take: (Answer) -> Void) {
        switch PQresultStatus(answer.result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            switch step {
            case .begin: break
            case .prepare(let statement): statement.isPrepared = true
            case .discard(let statement): statement.isPrepared = false
            case .execute: take(answer)
            case .commit where answer.isRollback: outcome.error = .misuse("commit after a statement failed")
            case .commit: outcome.isCommitted = true
            }
        case PGRES_PIPELINE_ABORTED: break
        case PGRES_FATAL_ERROR:
            guard outcome.error == nil, !outcome.isCommitted else { return }
            outcome.error = error(from: answer, of: step)
        default:
            isBroken = true
            outcome.error = outcome.error ?? .misuse("COPY is not spoken here")
        }
    }

    /// What an error answer means; nil when it is the end of the connection, which `settle` names.
    private func error(from answer: Answer, of step: Step) -> PostgresError? {
        let fault = PostgresError.Fault(answer.result)
        guard !fault.endsConnection, !(fault.isReadOnlyServer && !expectsReadOnly) else {
            isBroken = true
            return nil
        }
        if fault.isStale, case .execute(let statement) = step {
            cache.remove(statement)
            discards.append(statement)
        }
        // The server has lost its prepared statements, all of them for all this connection knows.
        if fault.sqlstate == "26000" { isBroken = true }
        return .server(fault)
    }
}

// MARK: Scripts

extension Pipeline {
    /// Runs a text of any number of statements by the simple protocol, which pipeline mode does not have.
    func script(_ text: String) throws(PostgresError) {
        guard !isBroken else { throw .connectionLost }
        lifeline.beginWaiting()
        defer { lifeline.endWaiting() }
        guard PQexitPipelineMode(handle) == 1, let answer = PQexec(handle, text).map(Answer.init) else {
            isBroken = true
            throw .connectionLost
        }
        var outcome = Outcome()
        read(answer, of: .begin, into: &outcome) { _ in }
        if PQstatus(handle) != CONNECTION_OK || PQenterPipelineMode(handle) != 1 { isBroken = true }
        if let error = outcome.error { throw error }
        guard !isBroken else { throw .connectionLost }
    }
}
