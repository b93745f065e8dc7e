import Glibc
import HTTP
import Synchronization
import TestKit
import Testing

@Suite(.serialized) struct DrainTests {
    @Test("What kept connections still ask while the server stops is answered, and ends them")
    func keptConnections() async throws {
        let scene = try Scene()
        let clients = try await blocking {
            let waiting = try scene.client()
            try waiting.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            return (waiting, try Self.kept(scene))
        }
        #expect(await eventually { scene.door.waiting == 1 })
        async let drained: Void = scene.server.drain(grace: .seconds(10))
        async let drainedToo: Void = scene.server.drain(grace: .seconds(10))
        #expect(await eventually { scene.server.isDraining })
        try await blocking {
            let kept = clients.1
            try kept.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try kept.answer()
            #expect(answer.status == 200)
            #expect(answer.header("Connection")?.lowercased() == "close")
            #expect(try kept.isEnded())
        }
        scene.door.open()
        await drained
        await drainedToo
        #expect(try await blocking { try clients.0.answer().status } == 200)
        await scene.server.drain(grace: .zero)
    }

    @Test("A proxy's quiet connection is kept until the proxy uses or ends it, other people's are closed")
    func proxyConnections() async throws {
        let scene = try Scene { settings in
            settings.isProxy = { _ in true }
            settings.proxyIdleTimeout = .seconds(30)
        }
        let (used, ended) = try await blocking { (try Self.kept(scene), try Self.kept(scene)) }
        async let drained: Void = scene.server.drain(grace: .seconds(30))
        #expect(await eventually { scene.server.isDraining })
        try await blocking {
            try used.send("GET /async HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try used.answer().status == 200)
            #expect(try used.isEnded())
            #expect(scene.server.figures.openConnections == 1)
            ended.close()
        }
        await drained
    }

    @Test("A proxy that neither uses nor ends its connection does not hold up a stop for longer than agreed")
    func forgetfulProxy() async throws {
        let scene = try Scene { settings in
            settings.isProxy = { _ in true }
            settings.proxyIdleTimeout = .milliseconds(50)
        }
        let kept = try await blocking { try Self.kept(scene) }
        let began = ContinuousClock.now
        await scene.server.drain(grace: .seconds(60))
        #expect(ContinuousClock.now - began < .seconds(30))
        #expect(try await blocking { try kept.isEnded() })
    }

    @Test("Proxies may have more connections than one address may")
    func proxiesAreNotCounted() async throws {
        let scene = try Scene { settings in
            settings.connectionsPerAddress = 1
            settings.isProxy = { _ in true }
            settings.proxyIdleTimeout = .zero
        }
        try await blocking {
            let kept = [try Self.kept(scene), try Self.kept(scene)]
            #expect(kept.count == 2)
        }
        #expect(scene.server.figures.turnedAwayTotal == 0)
        await scene.server.drain(grace: .seconds(1))
    }

    @Test("Behind a proxy a request is told of with the client it was forwarded for, and without when none is known")
    func clients() async throws {
        let scene = try Scene { settings in
            settings.isProxy = { _ in true }
            settings.proxyIdleTimeout = .zero
            settings.client = { $0.headers["x-forwarded-for"].flatMap { Address($0, port: 0) } }
        }
        try await blocking {
            for more in ["X-Forwarded-For: 192.0.2.7\r\n", "", "Broken\r\n"] {
                let client = try scene.client()
                try client.send("GET /fast HTTP/1.1\r\nHost: x\r\n\(more)\r\n")
                _ = try client.answer()
            }
        }
        #expect(await eventually { scene.exchanges.withLock { $0.count } == 3 })
        let exchanges = scene.exchanges.withLock { $0 }
        #expect(Set(exchanges.map { $0.client?.text }) == ["192.0.2.7", nil])
        #expect(exchanges.filter { $0.client != nil }.count == 1)
        #expect(exchanges.allSatisfy { $0.peer.text == "127.0.0.1" })
        await scene.server.drain(grace: .seconds(1))
    }

    @Test("Without a proxy the peer is the client, also of a request that could not be read")
    func peers() async throws {
        let scene = try Scene()
        try await blocking {
            for more in ["X-Forwarded-For: 192.0.2.7\r\n", "Broken\r\n"] {
                let client = try scene.client()
                try client.send("GET /fast HTTP/1.1\r\nHost: x\r\n\(more)\r\n")
                _ = try client.answer()
            }
        }
        #expect(await eventually { scene.exchanges.withLock { !$0.isEmpty } })
        #expect(scene.exchanges.withLock { $0.allSatisfy { $0.client?.text == "127.0.0.1" } })
        await scene.server.drain(grace: .seconds(1))
    }

    private static func kept(_ scene: Scene) throws -> RawClient {
        let client = try scene.client()
        try client.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
        guard try client.answer().status == 200 else { throw TestServer.Fault("not answered") }
        return client
    }
}
