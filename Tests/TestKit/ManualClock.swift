package import Domain
import Synchronization
package import Wire

/// The machine's clock, moved ahead by as much as the test says.
package final class ManualClock: Clock {
    private let ahead = Mutex<Duration>(.zero)
    private let real: any Clock

    package init(_ real: any Clock) { self.real = real }

    package func now() -> Instant { real.now() + ahead.withLock { $0 } }

    package func advance(by duration: Duration) { ahead.withLock { $0 += duration } }
}
