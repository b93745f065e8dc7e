import Domain
import Lanes
import Store

/// The open streams of this node, found by what rings for them, and counted for each device and account.
final class Registry: Sendable {
    private struct State {
        var byBell: [Doorbell: [ObjectIdentifier: UpdateStream]] = [:]
        var perDevice: [DeviceID: Int] = [:]
        var perAccount: [AccountID: Int] = [:]
    }

    private let streamsPerDevice: Int
    private let streamsPerAccount: Int
    private let state = Lock(State())

    init(streamsPerDevice: Int, streamsPerAccount: Int) {
        self.streamsPerDevice = streamsPerDevice
        self.streamsPerAccount = streamsPerAccount
    }

    /// Takes a place for one more stream, or says that there is none.
    func reserve(device: DeviceID, account: AccountID) -> Bool {
        state.withLock { state in
            guard state.perDevice[device, default: 0] < streamsPerDevice else { return false }
            guard state.perAccount[account, default: 0] < streamsPerAccount else { return false }
            state.perDevice[device, default: 0] += 1
            state.perAccount[account, default: 0] += 1
            return true
        }
    }

    /// Gives a place back.
    func release(device: DeviceID, account: AccountID) {
        state.withLock { state in
            state.perDevice.decrement(device)
            state.perAccount.decrement(account)
        }
    }

    func add(_ stream: UpdateStream) {
        state.withLock { state in
            for bell in stream.doorbells { state.byBell[bell, default: [:]][ObjectIdentifier(stream)] = stream }
        }
    }

    func remove(_ stream: UpdateStream) {
        state.withLock { state in
            for bell in stream.doorbells {
                state.byBell[bell]?[ObjectIdentifier(stream)] = nil
                if state.byBell[bell]?.isEmpty == true { state.byBell[bell] = nil }
            }
        }
    }

    /// The streams that a bell concerns.
    func streams(for doorbell: Doorbell) -> [UpdateStream] {
        state.withLock { state in state.byBell[doorbell.key].map { Array($0.values) } ?? [] }
    }

    func hasStreams(for doorbell: Doorbell) -> Bool {
        state.withLock { $0.byBell[doorbell.key] != nil }
    }

    /// Every open stream, each once.
    var all: [UpdateStream] {
        state.withLock { state in
            var streams: [ObjectIdentifier: UpdateStream] = [:]
            for group in state.byBell.values { streams.merge(group) { first, _ in first } }
            return Array(streams.values)
        }
    }
}

extension Doorbell {
    /// The bell without what it tells: what streams are found by.
    fileprivate var key: Doorbell {
        guard case .devices(let account, _) = self else { return self }
        return .devices(account, version: 0)
    }
}

extension Dictionary where Value == Int {
    fileprivate mutating func decrement(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}
