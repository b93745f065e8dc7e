import HTTP
import Synchronization
import TestKit
import Testing

@Suite struct ExchangeTests {
    @Test func answersHeadAsGetWithoutBody() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            for path in ["/fast", "/async", "/items/a%20b"] {
                try client.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\nGET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                let head = try client.answer(isHead: true)
                let get = try client.answer()
                #expect(head.status == 200)
                #expect(head.header("Content-Length") == get.header("Content-Length"))
                #expect(head.header("Content-Type") == get.header("Content-Type"))
            }
            try client.send("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n")
            let events = try client.answer(isHead: true)
            #expect(events.header("Content-Type") == "text/event-stream; charset=utf-8")
            #expect(try client.isEnded())
        }
        #expect(await eventually { scene.lastSource?.ends.count == 1 })
        await scene.server.drain(grace: .seconds(1))
        let heads = scene.exchanges.withLock { $0.filter { $0.method == "HEAD" } }
        #expect(heads.map(\.responseBytes) == [0, 0, 0, 0])
    }

    @Test func answersOptionsAndNamesTheAllowedMethods() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            try client.send("OPTIONS /items/1 HTTP/1.1\r\nHost: x\r\n\r\nPATCH /items/1 HTTP/1.1\r\nHost: x\r\n\r\n")
            let options = try client.answer()
            let refused = try client.answer()
            #expect(options.status == 204)
            #expect(options.header("Allow") == "GET, HEAD, DELETE, OPTIONS")
            #expect(options.header("Content-Length") == nil)
            #expect(refused.status == 405)
            #expect(refused.header("Allow") == "GET, HEAD, DELETE, OPTIONS")
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func decodesParametersAfterSplitting() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            try client.send("GET /items/a%2Fb%20%C3%A9?x=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "a/b é")
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func asksForTheBodyOnlyWhenItWillBeRead() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try client.head().status == 100)
            try client.send("abc")
            #expect(try client.answer().text == "abc")
            try client.send("POST /secret HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try client.answer().status == 401)
            #expect(try client.isEnded())
        }
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.executed.withLock { $0 } == ["echo"])
    }

    @Test func refusesAChunkedBodyThatGrowsOverTheLimit() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            let head =
                "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            try client.send(head + "800\r\n" + String(repeating: "a", count: 2048) + "\r\n0\r\n\r\n")
            #expect(try client.answer().status == 413)
            #expect(try client.isEnded())

            let endless = try scene.client()
            try endless.send(head)
            let chunk = "4000\r\n" + String(repeating: "a", count: 16384) + "\r\n"
            #expect(throws: RawClient.Broken.self) { for _ in 0..<4096 { try endless.send(chunk) } }
        }
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.executed.withLock { $0 } == [])
        #expect(scene.exchanges.withLock { $0.allSatisfy { $0.requestBytes < 1 << 20 } })
    }

    @Test func takesALargeBodyInPiecesAndSendsALargeAnswer() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            let body = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
            try client.send(body)
            #expect(try client.answer().body == body)
            try client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().body.count == 3 << 20)
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func keepsAnswersWithoutBodyInStep() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            for (path, status) in [("/empty", 204), ("/unchanged", 304), ("/empty", 204), ("/fast", 200)] {
                try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().status == status)
            }
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func answersAClientThatHasFinishedWriting() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            try client.send("GET /async HTTP/1.1\r\nHost: x\r\n\r\n")
            client.finishWriting()
            #expect(try client.answer().text == "async")
            #expect(try client.isEnded())
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func survivesClientsThatLeaveWhileTheirAnswerIsPrepared() async throws {
        let scene = try Scene()
        let clients = try await blocking {
            let clients = try (0..<40).map { _ in try scene.client() }
            for client in clients { try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n") }
            return clients
        }
        #expect(await eventually { scene.door.waiting == 40 })
        for (index, client) in clients.enumerated() {
            if index.isMultiple(of: 2) { client.reset() } else { client.close() }
        }
        scene.door.open()
        #expect(await eventually { scene.exchanges.withLock { $0.count } == 40 })
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func reportsEachExchangeOnce() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nRequest-Id: r7\r\nContent-Length: 5\r\n\r\nhello")
            _ = try client.answer()
            try client.send("BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.answer()
        }
        await scene.server.drain(grace: .seconds(1))
        let exchanges = scene.exchanges.withLock { $0 }
        #expect(exchanges.map(\.method) == ["POST", "OTHER"])
        #expect(exchanges.map(\.routePattern) == ["/echo", nil])
        #expect(exchanges.map(\.status) == [200, 501])
        #expect(exchanges.first?.requestBytes == 5)
        #expect(exchanges.first?.responseBytes == 5)
        #expect(exchanges.first?.requestID == "r7")
        #expect(exchanges.first?.peer.text == "127.0.0.1")
        #expect(exchanges.allSatisfy { $0.duration > 0 && $0.end == .completed })
        #expect(scene.server.figures.requestsTotal == 2)
        #expect(scene.server.figures.refusedTotal == 1)
    }
}
