import HTTP
import Synchronization
import TestKit
import Testing

/// Bodies of all connections together, and the rate at which one has to come.
@Suite struct BodyTests {
    private static func head(_ length: Int, _ more: String = "") -> String {
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\(more)\r\n"
    }

    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test func refusesABodyBeforeItIsSentWhileOthersFillTheRoom() async throws {
        let scene = try Scene { $0.bodiesInFlight = 100_000 }
        let filling = try await blocking {
            let client = try scene.client()
            try client.send(BodyTests.head(100_001) + BodyTests.letters(100_000))
            return client
        }
        #expect(await eventually { scene.server.figures.bodyBytes == 100_000 })
        try await blocking {
            let late = try scene.client()
            try late.send(BodyTests.head(3, "Expect: 100-continue\r\n"))
            #expect(try late.answer().status == 503)
            #expect(try late.isEnded())
            let plain = try scene.client()
            try plain.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try plain.answer().status == 200)
            filling.reset()
        }
        #expect(await eventually { scene.server.figures.bodyBytes == 0 })
        try await blocking {
            let client = try scene.client()
            try client.send(BodyTests.head(3) + "abc")
            #expect(try client.answer().text == "abc")
        }
        #expect(scene.server.figures.bodiesRefusedTotal == 1)
        #expect(scene.executed.withLock { $0 } == ["fast", "echo"])
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.server.figures.bodyBytes == 0)
    }

    @Test func refusesABodyThatOutgrowsTheRoomOnceItHasBeenSent() async throws {
        let scene = try Scene { $0.bodiesInFlight = 100_000 }
        try await blocking {
            let client = try scene.client()
            try client.send(BodyTests.head(400_000) + BodyTests.letters(400_000))
            let answer = try client.answer()
            #expect(answer.status == 503)
            #expect(answer.header("Connection")?.lowercased() == "close")
            #expect(try client.isEnded())
        }
        #expect(scene.server.figures.bodiesRefusedTotal == 1)
        #expect(scene.server.figures.bodyBytes == 0)
        #expect(scene.executed.withLock { $0 } == [])
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func countsABodyUntilItsRequestIsAnswered() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            for _ in 0..<20 {
                try client.send(BodyTests.head(50_000) + BodyTests.letters(50_000))
                #expect(try client.answer().body.count == 50_000)
            }
            let tooLarge = try scene.client()
            try tooLarge.send(
                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n"
                    + BodyTests.letters(0x100001) + "\r\n0\r\n\r\n")
            #expect(try tooLarge.answer().status == 413)
            let leaving = try scene.client()
            try leaving.send(BodyTests.head(60_000) + BodyTests.letters(50_000))
            leaving.reset()
        }
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        #expect(scene.server.figures.bodyBytes == 0)
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func cutsABodyThatComesMoreSlowlyThanTheLeastRateLongBeforeItsTimeIsOver() async throws {
        let scene = try Scene {
            $0.bodyWindow = .seconds(2)
            $0.bodyBytesPerWindow = 100_000
        }
        try await blocking {
            let slow = try scene.client()
            try slow.send(BodyTests.head(1_000_000))
            let steady = try scene.client()
            try steady.send(BodyTests.head(1_000_000))
            // Ten windows' worth, each a window of its own, while the other one drips.
            for _ in 0..<10 {
                try steady.send(BodyTests.letters(100_000))
                _ = try? slow.send("a")
            }
            #expect(try steady.answer().body.count == 1_000_000)
            #expect(try slow.isEnded())
        }
        #expect(scene.server.figures.slowBodiesTotal == 1)
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.executed.withLock { $0 } == ["echo"])
    }
}
