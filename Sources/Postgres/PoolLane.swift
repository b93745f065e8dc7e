/// The life of one lane: connect, serve calls, notice the end of the connection, connect again.
struct PoolLane: Sendable {
    let number: Int
    let pool: Pool
    let wakeUp: WakeUp
    let lifeline: Lifeline

    func live() {
        var backoff = Backoff()
        while !pool.isStopping {
            do throws(PostgresError) {
                let session = try pool.connect(lifeline)
                backoff.reset()
                pool.laneConnected(number)
                serve(session)
                // The socket's number must not be used any more once the connection is gone and the number somebody else's.
                withExtendedLifetime(session) { lifeline.disarm() }
                pool.laneLost(number)
                // Those in line need not find out by themselves, one after the other, that nobody answers.
                if lifeline.isCut { pool.laneFailed(.unavailable(reason: "PostgreSQL does not answer")) }
            } catch {
                pool.laneFailed(error)
                pause(backoff.pause())
            }
        }
        pool.laneEnded(number)
    }

    private func serve(_ session: Session) {
        var served: Duration?
        while !session.pipeline.isBroken {
            if let work = pool.nextWork(for: number, after: served) {
                let start = ContinuousClock.now
                work.run(on: session)
                served = (ContinuousClock.now - start) / work.count
                continue
            }
            served = nil
            guard !pool.isStopping else { return }
            // A server that speaks to an idle connection says goodbye, or something rare that a new connection answers as
            // well. To read on and see would let a call run on a connection that is about to end.
            guard !wakeUp.wait(socket: session.pipeline.socket).isReadable else { return }
        }
    }

    private func pause(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !pool.isStopping {
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            _ = wakeUp.wait(for: left)
        }
    }
}
