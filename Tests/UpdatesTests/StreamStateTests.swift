import API
import Testing

@testable import Updates

/// What a stream does, told by its actions alone.
@Suite("What a stream does next")
struct StreamStateTests {
    private func update(_ number: UInt8) -> Update { Update(event: "message", data: [number], position: [number]) }

    /// A machine that has replayed nothing and said ready.
    private func live(lanes: Int = 2) -> StreamState {
        var state = StreamState(starts: Array(repeating: [0], count: lanes))
        for lane in 0..<lanes {
            #expect(state.next(hasRoom: true) == .pull(lane: lane))
            state.found([], in: lane)
        }
        #expect(state.next(hasRoom: true) == .announceReady)
        state.announcedReady()
        #expect(state.next(hasRoom: true) == .wait)
        return state
    }

    @Test("asks every source before it says ready, and says it once")
    func ready() {
        _ = live(lanes: 3)
    }

    @Test("replays page after page until the source has no more, and only then says ready")
    func replay() {
        var state = StreamState(starts: [[0]])
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.found([update(1), update(2)], in: 0)
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
        state.delivered(in: 0)
        #expect(state.lanes[0].position == [1])
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
        state.delivered(in: 0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.found([], in: 0)
        #expect(state.next(hasRoom: true) == .announceReady)
    }

    @Test("never has two questions open")
    func onePull() {
        var state = StreamState(starts: [[0], [0]])
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.mark(1)
        #expect(state.next(hasRoom: true) == .wait)
    }

    @Test("a bell that rings during a question is not forgotten")
    func bellDuringPull() {
        var state = live(lanes: 1)
        state.mark(0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.mark(0)
        state.found([], in: 0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
    }

    @Test("what this node did itself is delivered from memory without a look at the table")
    func memoryIsEnough() {
        var state = live(lanes: 1)
        state.mark(0, isBeyondMemory: false)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        #expect(!state.mustReadTable)
        state.found([update(1)], in: 0, fromMemory: true)
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
        state.delivered(in: 0)
        #expect(state.next(hasRoom: true) == .wait)
    }

    @Test("what another node did is looked for in the table, however much memory had")
    func memoryIsNotEnough() {
        var state = live(lanes: 1)
        state.mark(0, isBeyondMemory: false)
        state.mark(0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        #expect(state.mustReadTable)
        state.found([update(1)], in: 0, fromMemory: true)
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
        state.delivered(in: 0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        #expect(state.mustReadTable)
        state.found([], in: 0)
        #expect(state.next(hasRoom: true) == .wait)
    }

    @Test("an update that the stream did not take is offered again, and the position stays behind it")
    func full() {
        var state = live(lanes: 1)
        state.mark(0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.found([update(1)], in: 0)
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
        state.refused()
        #expect(state.next(hasRoom: true) == .wait)
        #expect(state.lanes[0].position == [0])
        state.becameWritable()
        #expect(state.next(hasRoom: true) == .deliver(lane: 0))
    }

    @Test("asks for no more while much is still on its way")
    func noRoom() {
        var state = StreamState(starts: [[0]])
        #expect(state.next(hasRoom: false) == .waitForRoom)
        state.refused()
        state.becameWritable()
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
    }

    @Test("goes on after the source could not answer")
    func failed() {
        var state = StreamState(starts: [[0]])
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.failed()
        state.mark(0)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
    }

    @Test("tells of devices only after ready, once, with the newest version")
    func devices() {
        var state = StreamState(starts: [[0]])
        state.markDevices(version: 3)
        state.markDevices(version: 2)
        #expect(state.next(hasRoom: true) == .pull(lane: 0))
        state.found([], in: 0)
        #expect(state.next(hasRoom: true) == .announceReady)
        state.announcedReady()
        #expect(state.next(hasRoom: true) == .announceDevices(version: 3))
        state.announcedDevices()
        #expect(state.next(hasRoom: true) == .wait)
    }

    @Test("does nothing after its end")
    func ended() {
        var state = StreamState(starts: [[0]])
        state.end()
        state.mark(0)
        #expect(state.next(hasRoom: true) == .wait)
        #expect(!state.isIdle)
    }
}
