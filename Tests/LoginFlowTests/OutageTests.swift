import TestKit
import Testing
import Wire

@Suite struct OutageTests {
    @Test("While the database is away each caller is told so in its own words, and service returns by itself")
    func outage() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let ticket = try await server.ticket()
            let name = server.database
            let cluster = try PostgresCluster.shared
            _ = try await cluster.psql("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
            _ = try await cluster.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
            let page = try await server.post("admin", TestServer.adminPassword, ticket: ticket)
            #expect(page.status == 503)
            #expect(page.header("Content-Type") == "text/html; charset=utf-8")
            #expect(page.header("Retry-After") == "1")
            let token = try await server.refresh(#require(admin.refreshToken))
            #expect(token.status == 503)
            #expect(token.error == "temporarily_unavailable")
            #expect(token.header("Retry-After") == "1")
            #expect(try await admin.get("/v1/session").problem == "/problems/unavailable")
            #expect(try await server.session("x.y.z").status == 401)
            _ = try await cluster.psql("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
            let deadline = ContinuousClock.now + .seconds(15)
            var status = 503
            while status == 503, ContinuousClock.now < deadline { status = try await admin.get("/v1/session").status }
            #expect(status == 200)
        }
    }
}
