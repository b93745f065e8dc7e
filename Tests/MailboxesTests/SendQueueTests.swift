import Domain
import Testing
import Wire

@testable import Mailboxes

@Suite("The queue in front of the committer")
struct SendQueueTests {
    private func draft(_ number: UInt64, bytes: Int = 1) -> Draft {
        let id = UUID(high: 5, low: number)
        let envelope = Draft.Envelope(
            device: DeviceID(id), keyVersion: 1, ciphertext: [UInt8](repeating: 1, count: bytes))
        return Draft(
            id: MessageID(id), account: AccountID(id), device: DeviceID(UUID(high: 5, low: 0)),
            app: AppID(stored: "mail"), recipients: [Draft.Recipient(account: AccountID(id), envelopes: [envelope])])
    }

    /// Sends on tasks of its own and waits until all of them stand in the queue.
    private func enqueue(_ drafts: [Draft], in queue: SendQueue, _ group: inout TaskGroup<Bool>) async {
        let before = queue.figures.messages
        for draft in drafts {
            group.addTask { (try? await queue.send(draft)) != nil }
        }
        while queue.figures.messages < before + drafts.count { await Task.yield() }
    }

    private func answer(_ batch: [SendQueue.Ticket]) {
        for ticket in batch {
            let message = SentMessage(id: ticket.draft.id, sentAt: Instant(microseconds: 0), accepted: [])
            ticket.reply.resume(returning: .success(Receipt(message: message, isRepeated: false)))
        }
    }

    @Test("a batch takes whatever waits, up to its bounds")
    func bounds() async {
        let queue = SendQueue(SendQueue.Bounds(batchMessages: 3, batchBytes: 10))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue((1...4).map { draft($0) }, in: queue, &group)
            let first = await queue.batch()
            let second = await queue.batch()
            #expect([first.count, second.count] == [3, 1])
            await enqueue([draft(5, bytes: 6)], in: queue, &group)
            await enqueue([draft(6, bytes: 6)], in: queue, &group)
            let third = await queue.batch()
            let fourth = await queue.batch()
            #expect([third.count, fourth.count] == [1, 1])
            for batch in [first, second, third, fourth] { answer(batch) }
            #expect(queue.figures.messages == 0)
            #expect(queue.figures.bytes == 0)
            #expect(queue.figures.largestBatch == 3)
        }
    }

    @Test("a message larger than a batch may be goes alone")
    func tooLarge() async {
        let queue = SendQueue(SendQueue.Bounds(batchBytes: 10))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue([draft(1, bytes: 50)], in: queue, &group)
            let batch = await queue.batch()
            #expect(batch.count == 1)
            answer(batch)
        }
    }

    @Test("two sends of one id are never in one batch")
    func sameKey() async {
        let queue = SendQueue(SendQueue.Bounds(longestLine: .seconds(3600), patience: .seconds(3600)))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue([draft(1)], in: queue, &group)
            await enqueue([draft(1), draft(2)], in: queue, &group)
            let first = await queue.batch()
            let second = await queue.batch()
            #expect(Set(first.map(\.draft.key.id.uuid.low)) == [1, 2])
            #expect(second.map(\.draft.key.id.uuid.low) == [1])
            answer(first + second)
        }
    }

    @Test("a full queue refuses at once and takes again when there is room")
    func full() async {
        let queue = SendQueue(
            SendQueue.Bounds(messages: 2, longestLine: .seconds(3600), patience: .seconds(3600)))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue([draft(1), draft(2)], in: queue, &group)
            await #expect(throws: Failure.self) { try await queue.send(draft(3)) }
            answer(await queue.batch())
            await enqueue([draft(3)], in: queue, &group)
            answer(await queue.batch())
            for await isAnswered in group { #expect(isAnswered) }
        }
    }

    @Test("a line that takes too long, or does not move, refuses at once")
    func tooLong() async {
        let queue = SendQueue(SendQueue.Bounds(batchMessages: 2, longestLine: .milliseconds(30)))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 { queue.noteBatch(took: .milliseconds(100)) }
            await enqueue([draft(1), draft(2)], in: queue, &group)
            await #expect(throws: Failure.self) { try await queue.send(draft(3)) }
            #expect(queue.figures.turnedAway == 1)
            answer(await queue.batch())
            await enqueue([draft(3)], in: queue, &group)
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .milliseconds(40) { await Task.yield() }
            await #expect(throws: Failure.self) { try await queue.send(draft(4)) }
            answer(await queue.batch())
            for await isAnswered in group { #expect(isAnswered) }
        }
    }

    @Test("who has waited for too long is refused instead of written")
    func late() async {
        let queue = SendQueue(SendQueue.Bounds(longestLine: .seconds(60), patience: .milliseconds(30)))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue([draft(1)], in: queue, &group)
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .milliseconds(40) { await Task.yield() }
            await enqueue([draft(2)], in: queue, &group)
            let batch = await queue.batch()
            #expect(batch.map(\.draft.key.id.uuid.low) == [2])
            answer(batch)
            var answered: [Bool] = []
            for await isAnswered in group { answered.append(isAnswered) }
            #expect(answered.sorted { !$0 && $1 } == [false, true])
            #expect([queue.figures.messages, queue.figures.bytes, queue.figures.items] == [0, 0, 0])
        }
    }

    @Test("a closed queue refuses what comes and still hands out what waits")
    func closed() async {
        let queue = SendQueue(SendQueue.Bounds(longestLine: .seconds(3600), patience: .seconds(3600)))
        await withTaskGroup(of: Bool.self) { group in
            await enqueue([draft(1)], in: queue, &group)
            queue.close()
            await #expect(throws: Failure.self) { try await queue.send(draft(2)) }
            let rest = await queue.batch()
            #expect(rest.count == 1)
            answer(rest)
            #expect(await queue.batch().isEmpty)
        }
    }

    @Test("a waiting committer is woken by a message and by closing")
    func wakes() async {
        let queue = SendQueue(SendQueue.Bounds(longestLine: .seconds(3600), patience: .seconds(3600)))
        let committer = Task { await queue.batch() }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await queue.send(draft(1))) != nil }
            let woken = await committer.value
            #expect(woken.count == 1)
            answer(woken)
        }
        let last = Task { await queue.batch() }
        queue.close()
        #expect(await last.value.isEmpty)
    }
}
