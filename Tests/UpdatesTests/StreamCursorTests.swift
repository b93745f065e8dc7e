import API
import Domain
import Testing
import Wire

@testable import Updates

@Suite("Where a stream stands")
struct StreamCursorTests {
    private let device = DeviceID(UUID(high: 1, low: 2))
    private let app = AppID(stored: "chat")

    private func listener(device: DeviceID? = nil, app: String = "chat") -> Listener {
        let device = device ?? self.device
        let caller = Caller(
            account: AccountID(UUID(high: 9, low: 9)), role: .member, app: AppID(stored: app),
            session: SessionID(UUID(high: 7, low: 7)), scopes: [.mailbox], expiresAt: Instant(microseconds: 0),
            device: device, requestID: "r")
        return Listener(caller: caller, device: device)
    }

    private var cursor: StreamCursor {
        StreamCursor(device: device, app: app, positions: [0x6D: [1, 2, 3], 0x63: [4]])
    }

    @Test("comes back as it was sent")
    func roundTrip() throws {
        #expect(try StreamCursor(cursor.text, of: listener()) == cursor)
    }

    @Test("is refused for another device or app")
    func foreign() {
        #expect(throws: Failure.self) {
            try StreamCursor(cursor.text, of: listener(device: DeviceID(UUID(high: 1, low: 3))))
        }
        #expect(throws: Failure.self) { try StreamCursor(cursor.text, of: listener(app: "other")) }
    }

    @Test(
        "is refused when it is not one of ours",
        arguments: ["", "x", "AA", "not base64!", String(repeating: "A", count: 600), "AQ", "Ag=="])
    func malformed(_ text: String) {
        #expect(throws: Failure.self) { try StreamCursor(text, of: listener()) }
    }

    @Test("is refused when any byte of it is missing")
    func cut() throws {
        let bytes = try #require(Base64URL.decode(cursor.text))
        for count in 0..<bytes.count {
            // Cut after a whole source it is still a cursor, of fewer sources.
            let cut = Base64URL.encode(Array(bytes.prefix(count)))
            guard let read = try? StreamCursor(cut, of: listener()) else { continue }
            #expect(read.positions.count < cursor.positions.count)
        }
    }
}
