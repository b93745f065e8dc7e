import Domain
import Synchronization
import TestKit
import Testing
import Wire

@testable import Crypto

/// One device that sends as long as it may, and gives no message up before it knows what became of it.
final class Sender: Sendable {
    struct Figures: Sendable {
        var answered: [String] = []
        var unknown = 0
        var repeats = 0
        var unavailable = 0
        /// The longest that an attempt took, whatever came of it.
        var slowest = Duration.zero
    }

    private let device: EnrolledDevice
    private let addresses: [(account: UUID, devices: [UUID])]
    private let answered: Counter
    /// One, once nothing is under way any more.
    let ended = Counter()
    private let state = Mutex(Figures())
    private let mayStop = Atomic(false)

    init(_ device: EnrolledDevice, to addresses: [(account: UUID, devices: [UUID])], counting answered: Counter) {
        self.device = device
        self.addresses = addresses
        self.answered = answered
    }

    var figures: Figures { state.withLock { $0 } }

    func forgetSlowest() { state.withLock { $0.slowest = .zero } }

    /// The message that is under way is still brought to its end.
    func stop() { mayStop.store(true, ordering: .relaxed) }

    func run() async {
        while !mayStop.load(ordering: .relaxed), !Task.isCancelled { await send() }
        ended.add()
    }

    private func send() async {
        let id = SystemEntropy().uuid(at: device.owner.server.clock.now())
        let body = device.message(id, to: addresses, text: "message \(id)")
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let answer = try? await device.owner.call("POST", "/v1/messages", body)
            let took = ContinuousClock.now - began
            state.withLock { $0.slowest = max($0.slowest, took) }
            guard let answer else {
                state.withLock { $0.unknown += 1 }
                await pause()
                continue
            }
            switch answer.status {
            case 200, 201:
                state.withLock { figures in
                    figures.answered.append(id.description)
                    if answer.status == 200 { figures.repeats += 1 }
                }
                return answered.add()
            case 503:
                #expect(answer.header("Retry-After") != nil)
                state.withLock { $0.unavailable += 1 }
                await pause()
            default:
                Issue.record("a send was answered \(answer.status): \(answer.text)")
                return
            }
        }
    }

    /// What a client waits before it tries again.
    private func pause() async { try? await Task.sleep(for: .milliseconds(20)) }
}

/// One device that follows its mailbox over streams, each of which begins where the last one ended.
final class Receiver: Sendable {
    struct Delivery: Sendable {
        let seq: Int
        let id: String
    }

    struct Figures: Sendable {
        var deliveries: [Delivery] = []
        var gaps: [String] = []
        var streams = 0
        var disorders: [String] = []
    }

    private struct State {
        var figures = Figures()
        var cursor: String?
        var reader: EventReader?
        var isOver = false
    }

    let device: EnrolledDevice
    /// The highest sequence number that arrived.
    let progress = Counter()
    private let state = Mutex(State())

    init(_ device: EnrolledDevice) { self.device = device }

    var figures: Figures { state.withLock { $0.figures } }

    func run() async {
        while !state.withLock({ $0.isOver }), !Task.isCancelled {
            do {
                try await follow()
            } catch {
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func stop() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader
        }
        reader?.close()
    }

    private func follow() async throws {
        let reader = try await EventReader.open(device.owner, after: state.withLock { $0.cursor })
        let isOver = state.withLock { state in
            state.reader = reader
            state.figures.streams += 1
            return state.isOver
        }
        guard !isOver else { return }
        var last = 0
        while true {
            let event = try await reader.next()
            take(event, &last)
            if event.event == "message", last % 40 == 0 {
                _ = try? await device.owner.call(
                    "POST", "/v1/mailbox/acks", ["through": .number(JSON.Number(Int64(last)))])
            }
        }
    }

    private func take(_ event: EventReader.Event, _ last: inout Int) {
        let json = (try? JSON.parse(event.data)) ?? .null
        let seq = json["seq"]?.number ?? 0
        state.withLock { state in
            if !event.lastEventID.isEmpty { state.cursor = event.lastEventID }
            switch event.event {
            case "message":
                if seq <= last { state.figures.disorders.append("\(seq) after \(last) on one stream") }
                state.figures.deliveries.append(Delivery(seq: seq, id: json["id"]?.text ?? ""))
            case "gap": state.figures.gaps.append(event.text)
            default: break
            }
        }
        if event.event == "message" {
            last = seq
            progress.raise(to: seq)
        }
    }
}

extension Receiver.Figures {
    /// Everything that was answered arrived, in the order of its numbers, and nothing else did.
    func check(against sent: Set<String>) {
        let distinct = distinct
        #expect(disorders == [])
        #expect(gaps == [])
        #expect(Set(distinct.map(\.id)) == sent)
        #expect(distinct.count == sent.count)
        #expect(distinct.map(\.seq) == Array(1...max(sent.count, 1)), "in order, without holes")
    }

    /// Each message once, as it came first.
    var distinct: [Receiver.Delivery] {
        var seen: Set<String> = []
        return deliveries.filter { seen.insert($0.id).inserted }
    }
}
