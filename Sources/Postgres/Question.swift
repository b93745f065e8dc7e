/// One statement that only reads, asked together with those of others: they travel to the server and back as one exchange.
protocol Question: Call {
    var sql: SQL { get }
    func take(_ answer: Answer)
}

/// What a lane does next.
enum Work {
    case call(any Call)
    case questions([any Question])

    /// Those that are still waited for; the others have been told, or are now.
    func stillWanted() -> Work? {
        let now = ContinuousClock.now
        switch self {
        case .call(let call): return call.isWanted(at: now) ? self : nil
        case .questions(let questions):
            let wanted = questions.filter { $0.isWanted(at: now) }
            return wanted.isEmpty ? nil : .questions(wanted)
        }
    }

    func run(on session: Session) {
        switch self {
        case .call(let call): call.run(on: session)
        case .questions(let questions): session.ask(questions)
        }
    }

    var count: Int {
        switch self {
        case .call: 1
        case .questions(let questions): questions.count
        }
    }

    /// How long all of it has stood in line.
    func waited(until now: ContinuousClock.Instant) -> Duration {
        switch self {
        case .call(let call): now - call.enteredAt
        case .questions(let questions): questions.reduce(.zero) { $0 + (now - $1.enteredAt) }
        }
    }
}

extension Call {
    /// Running what nobody waits for any more would take time from those who still do.
    fileprivate func isWanted(at now: ContinuousClock.Instant) -> Bool {
        guard deadline <= now else { return true }
        refuse(.saturated)
        return false
    }
}

final class Asking<T: Sendable>: Question {
    typealias Continuation = UnsafeContinuation<Result<[T], PostgresError>, Never>
    typealias Decode = @Sendable (borrowing Row) throws(PostgresError) -> T

    let number: UInt64
    let precedence = Precedence.arriving
    let enteredAt: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    let sql: SQL
    private let decode: Decode
    private let continuation: Continuation

    init(number: UInt64, waitFor: Duration, sql: SQL, decode: @escaping Decode, continuation: Continuation) {
        self.number = number
        enteredAt = .now
        deadline = enteredAt + waitFor
        self.sql = sql
        self.decode = decode
        self.continuation = continuation
    }

    func run(on session: Session) { session.ask([self]) }

    func take(_ answer: Answer) {
        continuation.resume(returning: Result { () throws(PostgresError) in try Rows(answer).map(decode) })
    }

    func refuse(_ error: PostgresError) {
        continuation.resume(returning: .failure(error))
    }
}

extension Session {
    private static let attempts = 4

    /// Asks all in one exchange; those behind one that failed are asked again, since to the server they had one fate.
    func ask(_ questions: [any Question]) {
        var rest = questions[...]
        while !rest.isEmpty {
            let (answers, error) = exchange(rest)
            for (question, answer) in zip(rest, answers) { question.take(answer) }
            rest = rest.dropFirst(answers.count)
            if let error, let failed = rest.popFirst() { repeatAlone(failed, after: error) }
        }
    }

    private func exchange(_ questions: ArraySlice<any Question>) -> ([Answer], PostgresError?) {
        var answers: [Answer] = []
        answers.reserveCapacity(questions.count)
        do throws(PostgresError) {
            for question in questions { try pipeline.queue(question.sql) }
            try pipeline.settle { answers.append($0) }
            return (answers, nil)
        } catch {
            return (answers, error)
        }
    }

    private func repeatAlone(_ question: any Question, after error: PostgresError) {
        var last = error
        for _ in 1..<Self.attempts {
            guard last.isRetryable else { break }
            let (answers, error) = exchange([question])
            guard let error else {
                if let answer = answers.first { return question.take(answer) }
                break
            }
            last = error
        }
        question.refuse(last)
    }
}
