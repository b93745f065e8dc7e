import Domain
import Synchronization
import TestKit
import Wire

@testable import Crypto

/// Somebody with a device who exchanges the tokens for new ones when they are refused, as an app does.
final class Visitor: Sendable {
    struct Figures: Sendable {
        var accepted: Set<String> = []
        var refused = 0
        var renewed = 0
        var unavailable = 0
        var other: [Int: Int] = [:]
        var slowest = Duration.zero
    }

    /// Requests that succeeded.
    let served = Counter()
    /// One, once nothing is under way any more.
    let ended = Counter()
    /// The highest number that a stream brought.
    let progress = Counter()
    private let device: EnrolledDevice
    private let signedIn: Mutex<SignedIn>
    private let state = Mutex(Figures())
    private let deliveries = Mutex<[(seq: Int, id: String)]>([])
    private let reader = Mutex<EventReader?>(nil)
    private let isOver = Atomic(false)

    init(_ device: EnrolledDevice) {
        self.device = device
        signedIn = Mutex(device.owner.at(device.owner.server))
    }

    var figures: Figures { state.withLock { $0 } }

    /// Each message once, as it came first.
    var received: [(seq: Int, id: String)] {
        var seen: Set<String> = []
        return deliveries.withLock { $0 }.filter { seen.insert($0.id).inserted }
    }

    func stop() {
        isOver.store(true, ordering: .relaxed)
        reader.withLock { $0 }?.close()
    }

    /// Sends one message after the other, each until it is accepted, and reads in between.
    func send(to addresses: [(account: UUID, devices: [UUID])]) async {
        while !isEnded {
            let id = SystemEntropy().uuid(at: device.owner.server.clock.now())
            let body = device.message(id, to: addresses, text: "message \(id)")
            while !Task.isCancelled {
                let status = await call("POST", "/v1/messages", body)
                guard status == 200 || status == 201 else { continue }
                state.withLock { _ = $0.accepted.insert(id.description) }
                break
            }
            _ = await call("GET", "/v1/mailbox?limit=1")
        }
        ended.add()
    }

    /// Follows the mailbox over streams, each of which begins where the last one ended.
    func listen() async {
        var cursor: String?
        while !isEnded {
            do {
                let stream = try await EventReader.open(signedIn.withLock { $0 }, after: cursor)
                reader.withLock { $0 = stream }
                while !isEnded { take(try await stream.next(), &cursor) }
            } catch {
                // It may have been the token.
                _ = await call("GET", "/v1/session")
                await pause()
            }
        }
    }

    private var isEnded: Bool { isOver.load(ordering: .relaxed) || Task.isCancelled }

    private func take(_ event: EventReader.Event, _ cursor: inout String?) {
        if !event.lastEventID.isEmpty { cursor = event.lastEventID }
        guard event.event == "message", let json = try? JSON.parse(event.data) else { return }
        let seq = json["seq"]?.number ?? 0
        deliveries.withLock { $0.append((seq, json["id"]?.text ?? "")) }
        progress.raise(to: seq)
    }

    private func call(_ method: String, _ target: String, _ body: JSON? = nil) async -> Int? {
        let began = ContinuousClock.now
        let status = try? await signedIn.withLock { $0 }.call(method, target, body).status
        let took = ContinuousClock.now - began
        note(status, took)
        if status == 401 { await renew() }
        if status != 200 && status != 201 { await pause() } else { served.add() }
        return status
    }

    private func note(_ status: Int?, _ took: Duration) {
        state.withLock { figures in
            figures.slowest = max(figures.slowest, took)
            switch status {
            case 200, 201: break
            case 401: figures.refused += 1
            case 503: figures.unavailable += 1
            default: figures.other[status ?? 0, default: 0] += 1
            }
        }
    }

    private func renew() async {
        let mine = signedIn.withLock { $0 }
        let form = FormCoding.encode([
            ("grant_type", "refresh_token"), ("client_id", mine.app), ("refresh_token", mine.refreshToken ?? ""),
        ])
        guard let answer = try? await mine.client.post(form: form, to: "/oauth2/token"), answer.status == 200,
            let access = answer["access_token"]?.text, let refresh = answer["refresh_token"]?.text
        else { return }
        signedIn.withLock { signedIn in
            signedIn.accessToken = access
            signedIn.refreshToken = refresh
        }
        state.withLock { $0.renewed += 1 }
    }

    /// What a client waits before it tries again.
    private func pause() async { try? await Task.sleep(for: .milliseconds(20)) }
}
