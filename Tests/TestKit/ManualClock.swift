package import Domain
import Synchronization
package import Wire

/// The machine's clock, moved ahead by as much as the test says.
package final class ManualClock: Clock {
    private struct State {
        var ahead = Duration.zero
        var stoppedAt: Instant?
    }

    private let state = Mutex(State())
    private let real: any Clock

    package init(_ real: any Clock) { self.real = real }

    package func now() -> Instant { state.withLock { ($0.stoppedAt ?? real.now()) + $0.ahead } }

    package func advance(by duration: Duration) { state.withLock { $0.ahead += duration } }

    /// From now on only `advance` moves it: for tests of short spans, which a slow machine would outlast.
    package func stop() { state.withLock { $0.stoppedAt = real.now() } }
}
