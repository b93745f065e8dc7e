import API
import Domain
import Postgres
import Store
import TestKit
import Testing
import Wire

@testable import Mailboxes

@Suite("Waiting, reading, acknowledging and forgetting, on a real PostgreSQL")
struct WaitingTests {
    @Test("pages follow each other and end by number or by bytes")
    func pages() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for number in 1...7 { try await post.send(from: ann[0], to: bob, text: "text \(number)") }
            let byNumber = try #require(try await post.page(of: bob[0], limit: 3))
            #expect(byNumber.items.map(\.seq) == [1, 2, 3])
            #expect(byNumber.end.seq == 3)
            let byBytes = try #require(try await post.page(of: bob[0], after: 3, bytes: 6))
            #expect(byBytes.items.map(\.seq) == [4])
            let one = try #require(try await post.page(of: bob[0], after: 3, bytes: 1))
            #expect(one.items.map(\.seq) == [4], "one item comes however small the page")
            let rest = try #require(try await post.page(of: bob[0], after: 5))
            #expect(rest.items.map(\.seq) == [6, 7])
            #expect(rest.end.seq == rest.view.head)
            let whole = try #require(try await post.page(of: bob[0], limit: 7))
            #expect(whole.end.seq == 7 && whole.gaps.isEmpty)
        }
    }

    @Test("acknowledging moves forward only, never beyond the head, and hides what it covers at once")
    func acknowledges() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for _ in 1...4 { try await post.send(from: ann[0], to: bob) }
            #expect(try await post.acknowledge(3, by: bob[0]) == 3)
            #expect(try await post.acknowledge(2, by: bob[0]) == nil)
            #expect(try await post.acknowledge(5, by: bob[0]) == nil)
            #expect(try await post.acknowledge(4, by: bob[0], in: AppID(stored: "share")) == nil)
            let page = try #require(try await post.page(of: bob[0], after: 0))
            #expect(page.items.map(\.seq) == [4])
            #expect(page.view.acked == 3)
            #expect(page.gaps.isEmpty)
        }
    }

    @Test("an extension reads its parent's mailbox; an app without a mailbox has nothing to read")
    func extensionReads() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            try await post.send(from: ann[0], to: bob)
            let page = try #require(try await post.page(of: bob[0], in: AppID(stored: "share")))
            #expect(page.items.count == 1)
            #expect(page.view.app == Post.mail)
            #expect(try await post.page(of: bob[0], in: AppID(stored: "enfilade-cli")) == nil)
        }
    }

    @Test("a position beyond the head or of another epoch starts over after acked")
    func resets() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for _ in 1...3 { try await post.send(from: ann[0], to: bob) }
            _ = try await post.acknowledge(1, by: bob[0])
            let beyond = try #require(try await post.page(of: bob[0], after: 9))
            #expect(beyond.items.map(\.seq) == [2, 3])
            #expect(beyond.gaps == [Gap(from: 2, to: 9, reason: .reset)])
            let epoch = beyond.view.epoch
            let count = try await post.database.transaction { (tx) throws(Failure) in try Mailboxes.restored(in: tx) }
            #expect(count == 2)
            let restored = try #require(try await post.page(of: bob[0], after: 3, epoch: epoch))
            #expect(restored.view.epoch == epoch + 1)
            #expect(restored.gaps.map(\.reason) == [.reset])
            #expect(restored.items.map(\.seq) == [2, 3])
        }
    }

    @Test("what is past its time is a gap before and after it is deleted")
    func expires() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            try await post.send(from: ann[0], to: bob)
            try await post.send(from: ann[0], to: bob, expiresIn: .seconds(60))
            try await post.send(from: ann[0], to: bob, expiresIn: .seconds(40 * 86_400))
            post.time.advance(by: .seconds(60))
            for sweeps in [false, true] {
                if sweeps { #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 1, messages: 0)) }
                let page = try #require(try await post.page(of: bob[0]))
                #expect(page.items.map(\.seq) == [1, 3])
                #expect(page.gaps == [Gap(from: 2, to: 2, reason: .expired)])
            }
            post.time.advance(by: .seconds(30 * 86_400))
            #expect(try #require(try await post.page(of: bob[0])).gaps == [Gap(from: 1, to: 3, reason: .expired)])
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 2, messages: 0))
            post.time.advance(by: .seconds(86_400))
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 0, messages: 3))
        }
    }

    @Test("the sweeper deletes behind acknowledgements, however far they are")
    func sweeps() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...250 { group.addTask { _ = try? await post.send(from: ann[0], to: bob) } }
            }
            _ = try await post.acknowledge(249, by: bob[0])
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 249, messages: 0))
            #expect(try await post.rows("mailbox_item") == 1)
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept())
        }
    }

    @Test("acknowledging again before the sweep writes to no index, and the sweep still finds the mailbox")
    func acknowledgesInPlace() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for _ in 1...40 { try await post.send(from: ann[0], to: bob) }
            for seq in 1...40 { _ = try await post.acknowledge(Int64(seq), by: bob[0]) }
            func updates(_ column: String) async throws -> Int {
                let sql = "SELECT \(column) FROM pg_stat_user_tables WHERE relname = 'mailbox_ack'"
                return Int(try await PostgresCluster.shared.psql(sql, database: post.name).filter(\.isNumber)) ?? -1
            }
            // Counted by the backend with a delay.
            try await until("the updates are counted") { try await updates("n_tup_upd") >= 40 }
            #expect(try await updates("n_tup_hot_upd") >= 39)
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 40, messages: 0))
        }
    }

    @Test("a mailbox with too many items loses its oldest, and says so")
    func trimsItems() async throws {
        var limits = Mailboxes.Limits()
        limits.mailboxItems = 5
        try await Post.open(limits: limits) { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for _ in 1...5 { try await post.send(from: ann[0], to: bob) }
            _ = try await post.acknowledge(3, by: bob[0])
            for _ in 6...8 { try await post.send(from: ann[0], to: bob) }
            #expect(try #require(try await post.page(of: bob[0])).gaps.isEmpty)
            try await post.send(from: ann[0], to: bob)
            let page = try #require(try await post.page(of: bob[0]))
            #expect(page.items.map(\.seq) == [5, 6, 7, 8, 9])
            #expect(page.gaps == [Gap(from: 4, to: 4, reason: .trimmed)])
            #expect(try await post.rows("mailbox_item WHERE seq = 4") == 0)
        }
    }

    @Test("a mailbox with too many bytes loses its oldest at the next sweep")
    func trimsBytes() async throws {
        var limits = Mailboxes.Limits()
        limits.ciphertextBytes = 10
        limits.mailboxBytes = 40
        try await Post.open(limits: limits) { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            for _ in 1...6 { try await post.send(from: ann[0], to: bob, text: "0123456789") }
            #expect(try await post.mailboxes.sweep() == Mailboxes.Swept(items: 2, messages: 0))
            let page = try #require(try await post.page(of: bob[0]))
            #expect(page.items.map(\.seq) == [3, 4, 5, 6])
            #expect(page.gaps == [Gap(from: 1, to: 2, reason: .trimmed)])
        }
    }

    @Test("a stream replays from the table, then hears from memory, and large ciphertexts are to be fetched")
    func streams() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            try await post.send(from: ann[0], to: bob)
            let listener = post.listener(bob[0])
            let feed = try await post.mailboxes.updates.open(listener, at: nil)
            #expect(feed.standing.value == 1)
            let replayed = try await feed.page(after: feed.start)
            #expect(replayed.map(\.event.description) == ["message"])
            var position = try #require(replayed.last?.position)
            #expect(feed.recent(after: position) == nil)
            #expect(try await post.mailboxes.updates.haveMore([(feed, position)]) == [false])

            try await post.send(from: ann[0], to: bob)
            try await post.send(from: ann[0], to: bob, text: String(repeating: "x", count: 20_000))
            #expect(try await post.mailboxes.updates.haveMore([(feed, position)]) == [true])
            let heard = try #require(feed.recent(after: position))
            let read = try await feed.page(after: position)
            #expect(heard.map(\.data) == read.map(\.data), "memory and table say the same")
            #expect(heard.map { String(decoding: $0.data, as: UTF8.self).contains("\"fetch\":true") } == [false, true])
            position = try #require(heard.last?.position)
            #expect(try await feed.page(after: position).isEmpty)

            _ = try await post.database.transaction { (tx) throws(Failure) in try Mailboxes.restored(in: tx) }
            let again = try await feed.page(after: position)
            #expect(again.map(\.event.description) == ["gap", "message", "message", "message"])
            let resumed = try await post.mailboxes.updates.open(listener, at: position)
            #expect(try await resumed.page(after: resumed.start).first?.event.description == "gap")
            await #expect(throws: Failure.self) { _ = try await post.mailboxes.updates.open(listener, at: [0xFF]) }
        }
    }
}
