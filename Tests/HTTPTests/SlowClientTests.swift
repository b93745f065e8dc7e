import Glibc
import Synchronization
import TestKit
import Testing

@testable import HTTP

/// Three hundred clients at once that do everything as slowly as they can.
@Suite(.serialized) struct SlowClientTests {
    private static let count = 300

    /// One deadline is short and the others as always, so that nobody else is cut on a busy machine.
    private static func scene(_ stage: String) throws -> Scene {
        try Scene { settings in
            switch stage {
            case "head": settings.headerTimeout = .seconds(4)
            case "body": settings.bodyTimeout = .seconds(2)
            case "answer": settings.answerTimeout = .seconds(2)
            default: settings.idleTimeout = .seconds(2)
            }
        }
    }

    @Test(arguments: [
        ("GET /fast HTTP/1.1\r\nHost: x\r\nX: ", "head"),
        ("G", "head"),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "body"),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n", "body"),
        ("GET /large HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n", "answer"),
        ("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n", "idle"),
    ])
    func areAllCutWhileOthersAreServed(_ start: String, _ stage: String) async throws {
        let scene = try SlowClientTests.scene(stage)
        let clients = try await blocking {
            try (0..<SlowClientTests.count).map { _ in
                let client = try scene.client(receiveBuffer: 4096)
                try client.send(start)
                return client
            }
        }
        async let served = SlowClientTests.ask(scene)
        if stage == "head" || stage == "body" { try await SlowClientTests.drip(clients, scene, stage) }
        #expect(await eventually { SlowClientTests.cut(scene, stage) == SlowClientTests.count })
        #expect(try await served == 50)
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        await scene.server.drain(grace: .seconds(1))
        for client in clients { client.close() }
    }

    /// A byte now and then from each, until all are cut; bounded by what they could send in half a minute.
    private static func drip(_ clients: [RawClient], _ scene: Scene, _ stage: String) async throws {
        try await blocking {
            for _ in 0..<300 where cut(scene, stage) < count {
                for client in clients { _ = try? client.send("a") }
                usleep(100_000)
            }
        }
    }

    private static func cut(_ scene: Scene, _ stage: String) -> Int {
        let figures = scene.server.figures
        return switch stage {
        case "head": figures.slowHeadsTotal
        case "body": figures.slowBodiesTotal
        case "answer": figures.slowReadersTotal
        default: figures.idleTotal
        }
    }

    /// Somebody else's requests, each on a connection of its own.
    private static func ask(_ scene: Scene) async throws -> Int {
        try await blocking {
            var served = 0
            for _ in 0..<50 {
                let client = try scene.client()
                try client.send("GET /async HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                if try client.answer().status == 200 { served += 1 }
            }
            return served
        }
    }

    @Test func aClientThatHasFinishedWritingInTheMiddleOfARequestIsNotWaitedFor() async throws {
        let scene = try Scene {
            $0.headerTimeout = .seconds(4)
            $0.bodyTimeout = .seconds(4)
        }
        try await blocking {
            for start in [
                "GET /fast HTTP/1.1\r\nX: ", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
            ] {
                let client = try scene.client()
                try client.send(start)
                client.finishWriting()
                _ = try client.rest()
            }
        }
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        // When the end comes together with the last bytes the library overlooks it, and the deadline ends that.
        #expect(scene.server.figures.timedOutTotal <= 2)
        #expect(scene.executed.withLock { $0 } == [])
        await scene.server.drain(grace: .seconds(1))
    }
}
