/// One connection and the rules of its transactions; made, used and ended on one thread.
final class Session {
    let pipeline: Pipeline
    /// Grows with every connection that a pool makes.
    let generation: Int
    // BEGIN waits here for the first statement and travels with it; a transaction without statements costs nothing.
    private var waitingBegin: SQL?

    init(_ pipeline: Pipeline, generation: Int) {
        self.pipeline = pipeline
        self.generation = generation
    }

    var isInTransaction: Bool { waitingBegin != nil || pipeline.isInTransaction }

    func begin(_ sql: SQL, isReadOnly: Bool) throws(PostgresError) {
        guard !pipeline.isBroken else { throw .connectionLost }
        guard !isInTransaction else { throw .misuse("begin inside a transaction") }
        waitingBegin = sql
        pipeline.expectsReadOnly = isReadOnly
    }

    func commit() throws(PostgresError) {
        guard waitingBegin == nil else { return waitingBegin = nil }
        try checkCommit()
        try pipeline.queueCommit()
        try pipeline.settle { _ in }
    }

    /// Ends the transaction without its effects; when that fails the connection goes, which has the same result.
    func rollback() {
        waitingBegin = nil
        guard !pipeline.isBroken, pipeline.isInTransaction else { return }
        do throws(PostgresError) {
            try pipeline.queue("ROLLBACK")
            try pipeline.settle { _ in }
        } catch {
            pipeline.abandon()
        }
    }

    func perform(_ sql: SQL) throws(PostgresError) -> Answer {
        try sendWaitingBegin()
        try pipeline.queue(sql)
        var last: Answer?
        try pipeline.settle { last = $0 }
        guard let last else { throw .connectionLost }
        return last
    }

    /// Sends all statements, and a COMMIT when asked, before it reads the first answer.
    func performAll(_ statements: [SQL], thenCommit: Bool) throws(PostgresError) -> [Answer] {
        guard !statements.isEmpty else {
            if thenCommit { try commit() }
            return []
        }
        if thenCommit && waitingBegin == nil { try checkCommit() }
        try sendWaitingBegin()
        for sql in statements { try pipeline.queue(sql) }
        if thenCommit { try pipeline.queueCommit() }
        var answers: [Answer] = []
        answers.reserveCapacity(statements.count)
        try pipeline.settle { answers.append($0) }
        return answers
    }

    func script(_ text: String) throws(PostgresError) {
        if waitingBegin != nil {
            try sendWaitingBegin()
            try pipeline.settle { _ in }
        }
        try pipeline.script(text)
    }

    /// Cleans up after a lease; false when it had left a transaction open.
    func endLease() -> Bool {
        let isClean = waitingBegin == nil && (pipeline.isBroken || !pipeline.isInTransaction)
        if !isClean { rollback() }
        pipeline.expectsReadOnly = false
        return isClean
    }

    private func sendWaitingBegin() throws(PostgresError) {
        guard let sql = waitingBegin else { return }
        waitingBegin = nil
        try pipeline.queueBegin(sql)
    }

    private func checkCommit() throws(PostgresError) {
        guard !pipeline.isBroken else { throw .connectionLost }
        guard pipeline.isInTransaction else { throw .misuse("commit outside a transaction") }
        guard pipeline.hasFailedTransaction else { return }
        rollback()
        throw .misuse("commit after a statement failed")
    }
}
