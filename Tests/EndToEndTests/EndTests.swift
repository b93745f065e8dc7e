import TestKit
import Testing

@Suite("The end of a server")
struct EndTests {
    @Test("A server that has stopped leaves nothing of itself in memory")
    func nothingStays() async throws {
        weak var witness: AnyObject?
        try await TestServer.with { server in
            witness = server.witness
            _ = try await server.client.send("GET", "/metrics")
            #expect(witness != nil)
        }
        // Threads and tasks that were told of the end let go of it when they have heard.
        let deadline = ContinuousClock.now + .seconds(60)
        while witness != nil, .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
        #expect(witness == nil)
    }
}
