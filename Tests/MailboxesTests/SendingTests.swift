import Domain
import Postgres
import Store
import TestKit
import Testing
import Wire

@testable import Mailboxes

@Suite("Sending, on a real PostgreSQL")
struct SendingTests {
    @Test("every device gets its envelope, in the order of the commits, and its bell rings")
    func delivers() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(devices: 2), try await post.account(devices: 2))
            for text in ["one", "two", "three"] {
                try await post.send(from: ann[0], to: bob + [ann[1]], text: text)
            }
            for mate in bob + [ann[1]] {
                let page = try #require(try await post.page(of: mate))
                #expect(page.items.map(\.seq) == [1, 2, 3])
                #expect(
                    page.items.map { String(decoding: $0.ciphertext ?? [], as: UTF8.self) } == ["one", "two", "three"])
                #expect(
                    page.items.allSatisfy { $0.senderDevice == ann[0].device && $0.senderAccount == ann[0].account })
                #expect(post.bells(of: page.view.id) == 3)
            }
            #expect(try #require(try await post.page(of: ann[0])).view.head == 0)
        }
    }

    @Test("the same send again gets the first answer, also after the device set changed")
    func repeats() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            let draft = post.draft(from: ann[0], to: bob)
            let first = try await post.committer.send(draft)
            post.time.advance(by: .seconds(5))
            try await post.execute("UPDATE device SET key_version = 2 WHERE id = \(bob[0].device)")
            let second = try await post.committer.send(draft)
            #expect(!first.isRepeated && second.isRepeated)
            #expect(second.message.sentAt == first.message.sentAt)
            #expect(second.message.accepted == [bob[0].device])
            #expect(try await post.rows("mailbox_item") == 1)
        }
    }

    @Test("an id that was used for other content is refused with the first answer")
    func reuse() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(devices: 2), try await post.account())
            let id: MessageID = MessageID(UUID(high: 4, low: 4))
            try await post.send(from: ann[0], to: bob, id: id)
            do throws(Failure) {
                try await post.send(from: ann[0], to: bob, id: id, text: "other")
                Issue.record("taken twice")
            } catch {
                guard case .conflict(.messageIDUsed(let original)) = error else { throw error }
                #expect(original.accepted == [bob[0].device])
            }
            let fromAnotherDevice = try await post.send(from: ann[1], to: bob, id: id)
            #expect(!fromAnotherDevice.isRepeated)
        }
    }

    @Test("one id sent many times at once, on two nodes, is stored once")
    func sameIDAtOnce() async throws {
        try await Post.open(nodes: 2) { posts in
            let (ann, bob) = (try await posts[0].account(), try await posts[0].account())
            for _ in 0..<10 {
                let draft = posts[0].draft(from: ann[0], to: bob)
                let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                    for number in 0..<20 { group.addTask { try await posts[number % 2].committer.send(draft) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(receipts.filter { !$0.isRepeated }.count == 1)
                #expect(Set(receipts.map(\.message.sentAt)).count == 1)
            }
            #expect(try await posts[0].rows("mailbox_item") == 10)
        }
    }

    @Test("a refused message leaves nothing behind, not even its id, and does not disturb others of its batch")
    func refusedAlone() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account(devices: 2))
            let id: MessageID = MessageID(UUID(high: 4, low: 5))
            let fates = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    let isGood = number % 4 != 0
                    group.addTask {
                        let mates = isGood ? bob : [bob[0]]
                        let id = number == 0 ? id : nil
                        return ((try? await post.send(from: ann[0], to: mates, id: id)) != nil) == isGood
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(fates.allSatisfy { $0 })
            #expect(try await post.rows("message") == 30)
            #expect(try await post.rows("mailbox_item") == 60)
            let corrected = try await post.send(from: ann[0], to: bob, id: id)
            #expect(!corrected.isRepeated)
        }
    }

    @Test("one message that the database refuses fails alone")
    func poison() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            // The database itself refuses this device's items, which no check before can know.
            let mate = try await post.account()[0]
            try await PostgresCluster.shared.psql(
                "ALTER TABLE mailbox_item ADD CONSTRAINT test_check CHECK (sender_device <> '\(mate.device)')",
                database: post.name)
            let fates = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let sender = number == 7 ? mate : ann[0]
                        return ((try? await post.send(from: sender, to: bob)) != nil) == (number != 7)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(fates.allSatisfy { $0 })
            #expect(try await post.rows("mailbox_item") == 29)
        }
    }

    @Test("a device that was removed sends nothing any more, and is sent nothing")
    func removed() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account(devices: 2))
            let draft = post.draft(from: ann[0], to: bob)
            _ = try await post.committer.send(draft)
            try await post.execute("UPDATE device SET removed_at = now() WHERE id = \(ann[0].device)")
            await #expect(throws: Failure.self) { try await post.send(from: ann[0], to: bob) }
            await #expect(throws: Failure.self) { try await post.committer.send(draft) }
            try await post.execute("UPDATE device SET removed_at = now() WHERE id = \(bob[0].device)")
            await #expect(throws: Failure.self) { try await post.send(from: bob[1], to: bob) }
            #expect(try await post.rows("mailbox_item") == 2)
        }
    }

    @Test("nobody and somebody who is disabled are the same: no account")
    func noAccount() async throws {
        try await Post.open { posts in
            let post = posts[0]
            let (ann, bob) = (try await post.account(), try await post.account())
            try await post.execute("UPDATE account SET disabled_at = now() WHERE id = \(bob[0].account)")
            let nobody = Post.Mate(account: AccountID(UUID(high: 7, low: 7)), device: ann[0].device)
            for mate in [bob[0], nobody] {
                do throws(Failure) {
                    try await post.send(from: ann[0], to: [mate])
                    Issue.record("sent to nobody")
                } catch {
                    guard case .missingParts = error else { throw error }
                }
            }
        }
    }

    @Test("two nodes whose messages cross never deadlock, and lose and double nothing")
    func crossing() async throws {
        try await Post.open(nodes: 2) { posts in
            var mates: [Post.Mate] = []
            for _ in 0..<12 { mates += try await posts[0].account() }
            let all = mates
            let sent = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<32 {
                    group.addTask { await Self.chat(posts[number % 2], all, seed: number, messages: 60) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sent.allSatisfy { $0 })
            for mate in all {
                let page = try #require(try await posts[0].page(of: mate, limit: 200))
                #expect(page.gaps.isEmpty)
            }
            #expect(try await posts[0].rows("mailbox_item") == 32 * 60 * 4)
        }
    }

    /// Sends to four others at a time, in an order that differs from sender to sender.
    private static func chat(_ post: Post, _ mates: [Post.Mate], seed: Int, messages: Int) async -> Bool {
        let sender = seed % mates.count
        for number in 0..<messages {
            let others = (1...4).map { step in
                let offset = (seed % 2 == 0 ? step : 5 - step) * 2 + number % 3
                return mates[(sender + offset) % mates.count]
            }
            guard Set(others.map(\.account)).count == 4 else { return false }
            guard (try? await post.send(from: mates[sender], to: others)) != nil else { return false }
        }
        return true
    }
}
