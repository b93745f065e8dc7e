import API
import Domain
import Testing
import Wire

@testable import Mailboxes

@Suite("Items kept in memory for live streams")
struct RecentItemsTests {
    private final class Still: Clock {
        func now() -> Instant { Instant(microseconds: 1_000) }
    }

    private let box = MailboxID(UUID(high: 1, low: 1))
    private let elsewhere = MailboxID(UUID(high: 1, low: 2))

    private func recent(_ bounds: RecentItems.Bounds = RecentItems.Bounds()) -> RecentItems {
        let recent = RecentItems(clock: Still(), bounds: bounds)
        recent.watch(box)
        return recent
    }

    private func committed(
        _ seqs: ClosedRange<Int64>, in mailbox: MailboxID? = nil, epoch: Int64 = 1, keepUntil: Int64 = 2_000
    ) -> [CommittedItem] {
        seqs.map { seq in
            CommittedItem(
                mailbox: mailbox ?? box, epoch: epoch, keepUntil: Instant(microseconds: keepUntil), item: .sample(seq))
        }
    }

    private func seqs(_ recent: RecentItems, after seq: Int64, epoch: Int64 = 1) -> [Int64]? {
        recent.updates(after: MailboxPosition(epoch: epoch, seq: seq), in: box)?
            .map { MailboxPosition(bytes: $0.position)?.seq ?? -1 }
    }

    @Test("what follows a position without a break is answered")
    func contiguous() {
        let recent = recent()
        recent.add(committed(5...8))
        #expect(seqs(recent, after: 4) == [5, 6, 7, 8])
        #expect(seqs(recent, after: 6) == [7, 8])
    }

    @Test("what memory cannot tell is left to the table", arguments: [0, 3, 9])
    func unknown(_ after: Int64) {
        let recent = recent()
        recent.add(committed(5...8))
        #expect(seqs(recent, after: after) == nil)
    }

    @Test("whoever has what this node wrote last is told that it wrote no more")
    func upToDate() {
        let recent = recent()
        recent.add(committed(5...8))
        #expect(seqs(recent, after: 8) == [])
    }

    @Test("of two batches that come in the wrong order nothing is missed: the earlier is left to the table")
    func wrongOrder() {
        let recent = recent()
        recent.add(committed(5...5))
        recent.add(committed(7...7))
        recent.add(committed(6...6))
        #expect(seqs(recent, after: 5) == nil)
        #expect(seqs(recent, after: 6) == [7])
        #expect(seqs(recent, after: 7) == [])
    }

    @Test("an item that another node wrote breaks the run")
    func broken() {
        let recent = recent()
        recent.add(committed(5...6))
        recent.add(committed(8...9))
        #expect(seqs(recent, after: 4) == nil)
        #expect(seqs(recent, after: 7) == [8, 9])
        #expect(recent.figures.items == 2)
    }

    @Test("another epoch is another mailbox")
    func epoch() {
        let recent = recent()
        recent.add(committed(5...6))
        recent.add(committed(7...7, epoch: 2))
        #expect(seqs(recent, after: 6, epoch: 1) == nil)
        #expect(seqs(recent, after: 6, epoch: 2) == [7])
    }

    @Test("an expired item is never delivered from memory")
    func expired() {
        let recent = recent()
        recent.add(committed(5...5, keepUntil: 1_000) + committed(6...6))
        #expect(seqs(recent, after: 4) == nil)
        #expect(seqs(recent, after: 5) == [6])
    }

    @Test("nothing is kept where nobody listens, nor after the last listener left")
    func unwatched() {
        let recent = recent()
        recent.watch(box)
        recent.add(committed(1...3, in: elsewhere) + committed(1...2))
        #expect(recent.figures.items == 2)
        recent.forget(box)
        #expect(seqs(recent, after: 0) == [1, 2])
        recent.forget(box)
        #expect(recent.figures.items == 0)
        #expect(recent.figures.bytes == 0)
        #expect(recent.figures.watched == 0)
    }

    @Test("beyond the bound the oldest go, over any number of mailboxes")
    func bounded() {
        let recent = recent(RecentItems.Bounds(items: 100, bytes: .max))
        recent.watch(elsewhere)
        for seq in Int64(1)...1_000 {
            recent.add(committed(seq...seq) + committed(seq...seq, in: elsewhere))
        }
        #expect(recent.figures.items == 100)
        #expect(seqs(recent, after: 950)?.count == 50)
        #expect(seqs(recent, after: 949) == nil)
    }

    @Test("bytes are bounded too, and counted down to nothing")
    func boundedBytes() {
        let recent = recent(RecentItems.Bounds(items: 100, bytes: 1_000))
        recent.add(committed(1...50))
        #expect(recent.figures.bytes <= 1_000)
        #expect(recent.figures.items > 0)
        recent.forget(box)
        #expect(recent.figures.bytes == 0)
    }
}
