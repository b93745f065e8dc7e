import Glibc
import Synchronization
import TestKit
import Testing
import Wire

@testable import HTTP

@Suite struct StreamTests {
    private static let request = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func frame(_ text: String) -> Frame {
        Frame(ServerSentEvent(event: "e", data: Array(text.utf8)))
    }

    private static func open(_ scene: Scene, receiveBuffer: Int32? = nil) async throws -> (RawClient, EventStream) {
        let client = try await blocking { () throws in
            let client = try scene.client(receiveBuffer: receiveBuffer)
            try client.send(request)
            #expect(try client.head().status == 200)
            #expect(try client.chunk() == Array("retry: 1000\n\n".utf8))
            return client
        }
        #expect(await eventually { scene.lastSource?.stream != nil })
        let stream = try #require(scene.lastSource?.stream)
        return (client, stream)
    }

    @Test func opensWithItsHeadersAndFirstBytes() async throws {
        let scene = try Scene()
        try await blocking { () throws in
            let client = try scene.client()
            try client.send(StreamTests.request)
            let head = try client.head()
            #expect(head.status == 200)
            #expect(head.header("Content-Type") == "text/event-stream; charset=utf-8")
            #expect(head.header("Cache-Control") == "no-store")
            #expect(head.header("X-Accel-Buffering") == "no")
            #expect(head.header("Connection") == "close")
            #expect(head.header("Transfer-Encoding") == "chunked")
            #expect(try client.chunk() == Array("retry: 1000\n\n".utf8))
        }
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func deliversInOrderAndEndsWithTheLastFrame() async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene)
        for number in 0..<200 { #expect(stream.send(StreamTests.frame("\(number)")) == .sent) }
        stream.end(with: StreamTests.frame("bye"))
        stream.end(with: StreamTests.frame("never"))
        #expect(stream.send(StreamTests.frame("never")) == .closed)
        try await blocking { () throws in
            for number in 0..<200 {
                #expect(try client.chunk() == Array("event: e\ndata: \(number)\n\n".utf8))
            }
            #expect(try client.chunk() == Array("event: e\ndata: bye\n\n".utf8))
            #expect(try client.chunk() == [])
            #expect(try client.isEnded())
        }
        #expect(await eventually { scene.lastSource?.ends == [.ended] })
        await scene.server.drain(grace: .seconds(5))
        let exchange = try #require(scene.exchanges.withLock { $0.last })
        #expect(exchange.end == .completed)
        #expect(exchange.responseBytes > 200 * 20)
    }

    @Test func sendsPlainBytesToHTTP10() async throws {
        let scene = try Scene()
        let client = try await blocking { () throws in
            let client = try scene.client()
            try client.send("GET /events HTTP/1.0\r\n\r\n")
            let head = try client.head()
            #expect(head.header("Transfer-Encoding") == nil)
            return client
        }
        #expect(await eventually { scene.lastSource?.stream != nil })
        let stream = try #require(scene.lastSource?.stream)
        #expect(stream.send(StreamTests.frame("a")) == .sent)
        stream.end(with: StreamTests.frame("b"))
        let rest = try await blocking { try client.rest() }
        #expect(String(decoding: rest, as: UTF8.self) == "retry: 1000\n\nevent: e\ndata: a\n\nevent: e\ndata: b\n\n")
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func sharesOneFrameAmongFiveHundredStreams() async throws {
        let scene = try Scene()
        let clients = try await blocking { () throws in
            let clients = try (0..<500).map { _ in try scene.client() }
            for client in clients { try client.send(StreamTests.request) }
            for client in clients {
                _ = try client.head()
                _ = try client.chunk()
            }
            return clients
        }
        #expect(await eventually { scene.server.figures.streams == 500 })
        let streams = scene.sources.withLock { $0.compactMap(\.stream) }
        #expect(streams.count == 500)
        for number in 0..<20 {
            let frame = StreamTests.frame("\(number)")
            for stream in streams { #expect(stream.send(frame) == .sent) }
        }
        try await blocking { () throws in
            for client in clients {
                for number in 0..<20 { #expect(try client.chunk() == Array("event: e\ndata: \(number)\n\n".utf8)) }
                client.close()
            }
        }
        #expect(await eventually { scene.server.figures.streams == 0 && scene.server.figures.openConnections == 0 })
        #expect(scene.sources.withLock { $0.allSatisfy { $0.ends == [.left] } })
        await scene.server.drain(grace: .seconds(5))
    }

    @Test(arguments: [true, false])
    func noticesAClientThatLeavesWithoutSendingAnything(_ isReset: Bool) async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene)
        if isReset { client.reset() } else { client.close() }
        #expect(await eventually { scene.lastSource?.ends == [.left] })
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        #expect(stream.send(StreamTests.frame("late")) == .closed)
        stream.end()
        stream.notifyWhenWritable()
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func boundsWhatWaitsForASlowReaderAndCallsBackWhenItReads() async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene, receiveBuffer: 4096)
        let frame = StreamTests.frame(String(repeating: "a", count: 1000))
        var sent = 0
        while stream.send(frame) == .sent, sent < 10000 { sent += 1 }
        #expect(sent < 10000)
        #expect(stream.pending <= 64 * 1024)
        #expect(stream.pending > 60 * 1024)
        let total = sent
        try await blocking { () throws in for _ in 0..<total { #expect(try client.chunk().count == frame.count) } }
        #expect(await eventually { scene.lastSource?.seen.withLock { $0.writable } == 1 })
        #expect(stream.pending == 0)
        stream.notifyWhenWritable()
        #expect(await eventually { scene.lastSource?.seen.withLock { $0.writable } == 2 })

        let large = StreamTests.frame(String(repeating: "b", count: 1 << 20))
        #expect(stream.send(large) == .sent)
        #expect(stream.send(frame) == .full)
        try await blocking { () throws in #expect(try client.chunk().count == large.count) }
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func endsWithItsLastChunkHoweverSlowlyItIsRead() async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene, receiveBuffer: 4096)
        let frame = StreamTests.frame(String(repeating: "a", count: 1000))
        var sent = 0
        while stream.send(frame) == .sent { sent += 1 }
        let (waiting, bye) = (stream.pending, StreamTests.frame("bye"))
        stream.end(with: bye)
        // The socket takes nothing now: the last chunk waits its turn, like everything else.
        #expect(stream.pending == waiting + bye.part(isChunked: true).count + Array("0\r\n\r\n".utf8).count)
        let total = sent
        try await blocking { () throws in
            for _ in 0..<total { #expect(try client.chunk().count == frame.count) }
            #expect(try client.chunk() == Array("event: e\ndata: bye\n\n".utf8))
            #expect(try client.chunk() == [])
            #expect(try client.isEnded())
        }
        #expect(await eventually { scene.lastSource?.ends == [.ended] })
        await scene.server.drain(grace: .seconds(5))
        #expect(scene.exchanges.withLock { $0.last?.end } == .completed)
    }

    @Test func cutsAReaderThatMakesNoProgress() async throws {
        let scene = try Scene { $0.streams.stallTimeout = .milliseconds(300) }
        let (client, stream) = try await StreamTests.open(scene, receiveBuffer: 4096)
        let frame = StreamTests.frame(String(repeating: "a", count: 1000))
        while stream.send(frame) == .sent {}
        #expect(await eventually { scene.lastSource?.ends == [.stalled] })
        #expect(stream.send(frame) == .closed)
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        let rest = try await blocking { try client.rest() }
        #expect(!String(decoding: rest, as: UTF8.self).hasSuffix("0\r\n\r\n"))
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func beatsWhileNothingElseIsSent() async throws {
        let scene = try Scene {
            $0.streams.heartbeat = Frame(ServerSentEvent(event: "heartbeat", data: Array("{}".utf8)))
            $0.streams.heartbeatInterval = .milliseconds(50)
        }
        let (client, _) = try await StreamTests.open(scene)
        try await blocking { () throws in
            for _ in 0..<4 { #expect(try client.chunk() == Array("event: heartbeat\ndata: {}\n\n".utf8)) }
        }
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func endsAtItsDeadline() async throws {
        let scene = try Scene { $0.streams.stallTimeout = .seconds(1) }
        let (client, stream) = try await StreamTests.open(scene)
        let deadline = Monotonic.now() + 200_000_000
        stream.endAt(deadline, with: StreamTests.frame("over"))
        try await blocking { () throws in
            #expect(try client.chunk() == Array("event: e\ndata: over\n\n".utf8))
            #expect(Monotonic.now() >= deadline)
            #expect(try client.chunk() == [])
        }
        #expect(await eventually { scene.lastSource?.ends == [.ended] })
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func endsStreamsWithTheirFarewellWhenTheServerStops() async throws {
        let scene = try Scene(makeSource: {
            Source(farewell: Frame(ServerSentEvent(event: "goodbye", data: Array("{}".utf8))))
        })
        let (client, _) = try await StreamTests.open(scene)
        let waiting = try await blocking { () throws in
            let waiting = try scene.client()
            try waiting.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            let kept = try scene.client()
            try kept.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try kept.answer()
            return (waiting, kept)
        }
        #expect(await eventually { scene.door.waiting == 1 })
        async let drained: Void = scene.server.drain(grace: .seconds(10))
        try await blocking { () throws in
            #expect(try client.chunk() == Array("event: goodbye\ndata: {}\n\n".utf8))
            #expect(try client.chunk() == [])
            #expect(try client.isEnded())
            // A stream asked for while draining is opened all the same, and told to come back later.
            try waiting.1.send(StreamTests.request)
            #expect(try waiting.1.head().status == 200)
            #expect(try waiting.1.chunk() == Array("retry: 1000\n\n".utf8))
            #expect(try waiting.1.chunk() == Array("event: goodbye\ndata: {}\n\n".utf8))
            #expect(try waiting.1.chunk() == [])
        }
        scene.door.open()
        await drained
        #expect(scene.sources.withLock { $0.map(\.ends) } == [[.ended], [.ended]])
    }

    @Test func cutsStreamsThatDoNotEndWithinTheGrace() async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene, receiveBuffer: 4096)
        while stream.send(StreamTests.frame(String(repeating: "a", count: 1000))) == .sent {}
        await scene.server.drain(grace: .milliseconds(50))
        #expect(scene.lastSource?.ends == [.stopped])
        _ = client
    }

    @Test func letsManyThreadsSendAtOnce() async throws {
        let scene = try Scene()
        let (client, stream) = try await StreamTests.open(scene)
        let senders = 4
        async let received: [String] = blocking { () throws in
            try (0..<(senders * 500)).map { _ in String(decoding: try client.chunk(), as: UTF8.self) }
        }
        await withTaskGroup { group in
            for sender in 0..<senders {
                group.addTask {
                    for number in 0..<500 {
                        let frame = StreamTests.frame("\(sender) \(number)")
                        while stream.send(frame) == .full { await Task.yield() }
                    }
                }
            }
        }
        let texts = try await received
        for sender in 0..<senders {
            let own = texts.filter { $0.hasPrefix("event: e\ndata: \(sender) ") }
            #expect(own == (0..<500).map { "event: e\ndata: \(sender) \($0)\n\n" })
        }
        await scene.server.drain(grace: .seconds(5))
    }

    @Test func forgetsStreamsThatComeAndGoUnderPublishing() async throws {
        let scene = try Scene()
        let stop = Door()
        await withTaskGroup { group in
            group.addTask {
                let frame = StreamTests.frame("x")
                while !stop.isOpen {
                    for stream in scene.sources.withLock({ $0.compactMap(\.stream) }) { _ = stream.send(frame) }
                    await Task.yield()
                }
            }
            group.addTask {
                try? await blocking { () throws in
                    for round in 0..<300 {
                        let client = try scene.client()
                        try client.send(StreamTests.request)
                        if !round.isMultiple(of: 3) { _ = try client.head() }
                        if round.isMultiple(of: 2) { client.reset() }
                    }
                }
                stop.open()
            }
        }
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        #expect(await eventually { scene.sources.withLock { $0.allSatisfy { $0.ends == [.left] } } })
        #expect(scene.server.figures.streams == 0)
        await scene.server.drain(grace: .seconds(5))
    }
}
