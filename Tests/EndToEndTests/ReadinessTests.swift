import Domain
import TestKit
import Testing

@Suite struct ReadinessTests {
    @Test(
        "A node whose clock is more than a minute from the database's gets no requests from a proxy until it is right again",
        arguments: [Duration.seconds(90), .seconds(-90)])
    func clock(ahead: Duration) async throws {
        try await TestServer.with { server in
            try await until("ready") { try await server.client.send("GET", "/readyz").status == 200 }
            server.machine.advance(by: ahead)
            let refused = try await server.client.send("GET", "/readyz")
            #expect(refused.status == 503)
            #expect(refused.header("Retry-After") != nil)
            let metrics = [("Authorization", "Bearer metrics-token-of-the-tests")]
            let page = try await server.client.send("GET", "/metrics", headers: metrics)
            let line = page.text.split(separator: "\n").first { $0.hasPrefix("enfilade_clock_ahead_seconds ") }
            let seconds = try #require(line?.split(separator: " ").last.flatMap { Double($0) })
            #expect(abs(seconds - ahead / .seconds(1)) < 25)
            let way = ahead > .zero ? "ahead of" : "behind"
            let told = server.observations.filter {
                guard case .faltered(task: let task, cause: let cause) = $0 else { return false }
                return "\(task)" == "clock" && cause.contains("s \(way) the database's")
            }
            #expect(told.count == 1)
            server.machine.advance(by: .zero - ahead)
            try await until("ready again") { try await server.client.send("GET", "/readyz").status == 200 }
        }
    }
}
