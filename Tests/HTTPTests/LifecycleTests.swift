import Glibc
import HTTP
import Synchronization
import TestKit
import Testing

@Suite(.serialized) struct LifecycleTests {
    @Test func namesWhyItCannotStart() async throws {
        let scene = try Scene()
        let port = scene.server.port
        #expect(throws: ServerFault.portInUse(port)) { try Scene { $0.port = port } }
        #expect(throws: ServerFault.addressMalformed("nowhere")) { try Scene { $0.address = "nowhere" } }
        #expect(throws: ServerFault.addressNotAvailable("192.0.2.1")) { try Scene { $0.address = "192.0.2.1" } }
        #expect(throws: ServerFault.alreadyStarted) { try scene.server.start() }
        await scene.server.drain(grace: .zero)
    }

    @Test func finishesRequestsInFlightBeforeItStops() async throws {
        let scene = try Scene()
        let client = try await blocking {
            let client = try scene.client()
            try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            return client
        }
        #expect(await eventually { scene.door.waiting == 1 })
        async let drained: Void = scene.server.drain(grace: .seconds(10))
        #expect(await eventually { scene.server.isDraining })
        scene.door.open()
        await drained
        let answer = try client.answer()
        #expect(answer.status == 200)
        #expect(answer.header("Connection")?.lowercased() == "close")
        #expect(scene.server.figures.openConnections == 0)
        #expect(scene.server.figures.requestsInFlight == 0)
    }

    @Test func refusesWhatDoesNotFinishWithinTheGrace() async throws {
        let scene = try Scene()
        let client = try await blocking {
            let client = try scene.client()
            try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            return client
        }
        #expect(await eventually { scene.door.waiting == 1 })
        await scene.server.drain(grace: .milliseconds(50))
        #expect(try client.answer().status == 503)
        scene.door.open()
    }

    @Test func servesThreeTimesTheAcceptLimit() async throws {
        let scene = try Scene { $0.connectionLimit = 20 }
        try await blocking {
            var clients: [RawClient] = []
            for _ in 0..<60 {
                let client = try scene.client()
                try client.send("GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                clients.append(client)
            }
            for client in clients { #expect(try client.answer().status == 200) }
        }
        try await blocking {
            let idle = try (0..<60).map { _ in try scene.client() }
            #expect(idle.count == 60)
            #expect(scene.server.figures.openConnections <= 20)
        }
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.server.figures.acceptedTotal >= 60)
    }

    @Test func turnsAwayAnAddressWithTooManyConnections() async throws {
        let scene = try Scene { $0.connectionsPerAddress = 3 }
        try await blocking {
            let taken = try (0..<3).map { _ in try scene.client() }
            for client in taken { try client.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n") }
            for client in taken { #expect(try client.answer().status == 200) }
            #expect(try scene.client().isEnded())
        }
        #expect(scene.server.figures.turnedAwayTotal == 1)
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        try await blocking {
            let client = try scene.client()
            try client.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 200)
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test func cutsClientsThatDripTheirHeadOrBody() async throws {
        let scene = try Scene {
            $0.headerTimeout = .milliseconds(200)
            $0.bodyTimeout = .milliseconds(200)
        }
        try await blocking {
            for start in [
                "GET /fast HTTP/1.1\r\nX: ", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
            ] {
                let client = try scene.client()
                try client.send(start)
                var count = 0
                while (try? client.send("a")) != nil, count < 1000 {
                    usleep(10_000)
                    count += 1
                }
                #expect(count < 1000)
                #expect(try client.isEnded())
            }
            #expect(try scene.client().isEnded())
        }
        #expect(await eventually { scene.server.figures.openConnections == 0 })
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.server.figures.timedOutTotal == 3)
        #expect(scene.exchanges.withLock { $0.map(\.end) } == [.timeout, .timeout])
    }

    @Test func cutsAClientThatDoesNotReadItsAnswer() async throws {
        let scene = try Scene { $0.answerTimeout = .milliseconds(200) }
        let client = try await blocking {
            let client = try scene.client(receiveBuffer: 4096)
            try client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            return client
        }
        // Not open any more because it was cut, and not because it is not open yet.
        #expect(
            await eventually { scene.server.figures.timedOutTotal == 1 && scene.server.figures.openConnections == 0 })
        _ = client
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.exchanges.withLock { $0.last?.end } == .timeout)
    }

    @Test func startsAndStopsUnderConnectionsWithoutLosingDescriptors() async {
        // In a process of its own: the descriptors of tests that run beside it must not be counted.
        await #expect(processExitsWith: .success) { try await LifecycleTests.startAndStop() }
    }

    private static func startAndStop() async throws {
        let before = LifecycleTests.openDescriptors()
        for round in 0..<200 {
            let scene = try Scene { $0.workers = 2 }
            try await blocking {
                for index in 0..<5 {
                    let client = try scene.client()
                    try client.send(
                        "GET \(["/fast", "/async", "/events"][(round + index) % 3]) HTTP/1.1\r\nHost: x\r\n\r\n")
                    if index.isMultiple(of: 2) { _ = try client.head() }
                }
            }
            await scene.server.drain(grace: .seconds(1))
            #expect(scene.server.figures.openConnections == 0)
        }
        #expect(
            await eventually { LifecycleTests.openDescriptors() <= before + 8 },
            "\(before) before, \(LifecycleTests.openDescriptors()) now")
    }

    private static func openDescriptors() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
