import Domain
import Testing
import Wire

@testable import Mailboxes

@Suite("A page of a mailbox names every hole")
struct MailboxPageTests {
    private static let epoch: Int64 = 7

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var head: Int64 = 10
        var acked: Int64 = 0
        var trimmed: Int64 = 0
        var after: Int64?
        var isReset = false
        var seqs: [Int64]
        var isCut = false
        let gaps: [Gap]
        let end: Int64
    }

    static let cases: [Case] = [
        Case(testDescription: "all there", head: 3, seqs: [1, 2, 3], gaps: [], end: 3),
        Case(testDescription: "an empty mailbox", head: 0, seqs: [], gaps: [], end: 0),
        Case(
            testDescription: "a hole in the middle", head: 5, seqs: [1, 2, 5],
            gaps: [Gap(from: 3, to: 4, reason: .expired)], end: 5),
        Case(
            testDescription: "a hole up to the head", head: 5, seqs: [1, 2],
            gaps: [Gap(from: 3, to: 5, reason: .expired)], end: 5),
        Case(
            testDescription: "nothing left at all", head: 5, seqs: [], gaps: [Gap(from: 1, to: 5, reason: .expired)],
            end: 5),
        Case(
            testDescription: "trimmed at the front", head: 6, trimmed: 3, seqs: [4, 5, 6],
            gaps: [Gap(from: 1, to: 3, reason: .trimmed)], end: 6),
        Case(
            testDescription: "trimmed, then expired", head: 6, trimmed: 3, seqs: [6],
            gaps: [Gap(from: 1, to: 3, reason: .trimmed), Gap(from: 4, to: 5, reason: .expired)], end: 6),
        Case(
            testDescription: "trimmed only before the start", head: 6, trimmed: 3, after: 4, seqs: [6],
            gaps: [Gap(from: 5, to: 5, reason: .expired)], end: 6),
        Case(
            testDescription: "what was acknowledged is not missed", head: 6, acked: 4, after: 1, seqs: [5, 6], gaps: [],
            end: 6),
        Case(
            testDescription: "without after it starts after acked", head: 6, acked: 4, seqs: [5, 6], gaps: [], end: 6),
        Case(
            testDescription: "a cut page says nothing of what follows it", head: 9, seqs: [1, 2, 4], isCut: true,
            gaps: [Gap(from: 3, to: 3, reason: .expired)], end: 4),
        Case(
            testDescription: "a position beyond head", head: 6, acked: 4, after: 20, isReset: true, seqs: [5, 6],
            gaps: [Gap(from: 5, to: 20, reason: .reset)], end: 6),
        Case(
            testDescription: "a position of another epoch behind acked", head: 6, acked: 4, after: 2, isReset: true,
            seqs: [5, 6], gaps: [Gap(from: 3, to: 4, reason: .reset)], end: 6),
        Case(
            testDescription: "a position of another epoch at acked", head: 6, acked: 4, after: 4, isReset: true,
            seqs: [5, 6], gaps: [Gap(from: 5, to: 5, reason: .reset)], end: 6),
    ]

    @Test("gaps and end", arguments: cases)
    func names(_ test: Case) {
        let view = MailboxView(
            id: MailboxID(UUID(high: 1, low: 1)), app: AppID(stored: "mail"), epoch: Self.epoch, head: test.head,
            acked: test.acked, trimmedThrough: test.trimmed, isReset: test.isReset)
        let page = MailboxPage(
            view: view, after: test.after, items: test.seqs.map { .sample($0) }, isCut: test.isCut)
        #expect(page.items.map(\.seq) == test.seqs)
        #expect(page.gaps == test.gaps)
        #expect(page.end == MailboxPosition(epoch: Self.epoch, seq: test.end))
    }
}

extension Item {
    static func sample(_ seq: Int64, bytes: Int = 3) -> Item {
        let id = UUID(high: 9, low: UInt64(seq))
        return Item(
            seq: seq, id: MessageID(id), kind: "message", senderAccount: AccountID(id), senderDevice: DeviceID(id),
            conversation: nil, sentAt: Instant(microseconds: 0), expiresAt: nil,
            ciphertext: [UInt8](repeating: 7, count: bytes))
    }
}
