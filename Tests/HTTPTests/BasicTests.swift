import HTTP
import Synchronization
import TestKit
import Testing

@Suite struct BasicTests {
    @Test func answersOnOneConnectionAfterAnother() async throws {
        let scene = try Scene()
        try await blocking {
            let client = try scene.client()
            for path in ["/fast", "/async", "/fast", "/async"] {
                try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\nRequest-Id: r1\r\n\r\n")
                let answer = try client.answer()
                #expect(answer.status == 200)
                #expect(answer.text == String(path.dropFirst()))
                #expect(answer.header("Request-Id") == "r1")
            }
        }
        await scene.server.drain(grace: .seconds(1))
        #expect(scene.exchanges.withLock { $0.count } == 4)
    }
}
