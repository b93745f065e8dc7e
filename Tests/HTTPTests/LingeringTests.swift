import HTTP
import TestKit
import Testing

/// Refusals to clients that are still sending.
@Suite(.serialized) struct LingeringTests {
    @Test("Who sends a body that is far too large to its end can do so, and then reads the refusal")
    func wholeBody() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            let size = 16 << 20
            try client.send(
                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: \(size)\r\n\r\n")
            let piece = [UInt8](repeating: 0x61, count: 1 << 20)
            for _ in 0..<(size / piece.count) { try client.send(piece) }
            let answer = try client.answer()
            #expect(answer.status == 413)
            #expect(try client.isEnded())
        }
        await scene.server.drain(grace: .seconds(1))
    }

    @Test("A client that never ends is let go of by a stop")
    func stop() async throws {
        let scene = try Scene()
        let client = try await blocking {
            let client = try scene.client()
            try client.send(
                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 99999999\r\n\r\n")
            #expect(try client.answer().status == 413)
            return client
        }
        await scene.server.drain(grace: .seconds(30))
        #expect(scene.server.figures.openConnections == 0)
        client.close()
    }
}
