/// The life of one lane: connect, serve calls, notice the end of the connection, connect again.
struct PoolLane: Sendable {
    let number: Int
    let pool: Pool
    let wakeUp: WakeUp
    let interrupt: Interrupt

    func live() {
        var backoff = Backoff()
        while !pool.isStopping {
            do throws(PostgresError) {
                let session = try pool.connect()
                backoff.reset()
                interrupt.arm(session.pipeline.connection)
                pool.laneConnected(number)
                serve(session)
                interrupt.disarm()
                pool.laneLost(number)
            } catch {
                pool.laneFailed(error)
                pause(backoff.pause())
            }
        }
        pool.laneEnded(number)
    }

    private func serve(_ session: Session) {
        while !session.pipeline.isBroken {
            if let call = pool.nextCall(for: number) {
                call.run(on: session)
                continue
            }
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
