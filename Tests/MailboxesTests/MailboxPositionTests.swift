import Domain
import Testing
import Wire

@testable import Mailboxes

@Suite("Positions and cursors")
struct MailboxPositionTests {
    @Test("a position survives its bytes", arguments: [0, 1, 127, 128, 1_700_000_000, Sequence.limit])
    func roundTrip(_ number: Int64) {
        let position = MailboxPosition(epoch: number, seq: number / 2)
        #expect(MailboxPosition(bytes: position.bytes) == position)
    }

    @Test("a cursor survives its text, whoever's it is")
    func cursorRoundTrip() throws {
        let cursor = MailboxCursor(
            device: DeviceID(UUID(high: 1, low: 2)), app: AppID(stored: "mail-2"),
            position: MailboxPosition(epoch: 1_700_000_000, seq: 41))
        #expect(MailboxCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.allSatisfy { $0 != UInt8(ascii: "=") })
    }

    @Test(
        "a text that is no cursor is refused", arguments: ["", "AQ", "a", "====", "AQeX0m", "AgAAAAAAAAAAAAAAAAAAAAAA"])
    func notACursor(_ text: String) { #expect(MailboxCursor(text) == nil) }

    @Test("a cursor with anything after it is refused")
    func longer() throws {
        let cursor = MailboxCursor(
            device: DeviceID(UUID(high: 1, low: 2)), app: AppID(stored: "mail"),
            position: MailboxPosition(epoch: 1, seq: 1))
        let bytes = try #require(Base64URL.decode(cursor.text))
        #expect(MailboxCursor(Base64URL.encode(bytes + [0])) == nil)
        for count in 0..<bytes.count { #expect(MailboxCursor(Base64URL.encode(Array(bytes.prefix(count)))) == nil) }
    }

    @Test("a number beyond what JSON can hold is no position")
    func tooLarge() {
        var writer = ByteWriter()
        writer.varint(1)
        writer.varint(UInt64(Sequence.limit) + 1)
        #expect(MailboxPosition(bytes: writer.finish()) == nil)
    }
}
