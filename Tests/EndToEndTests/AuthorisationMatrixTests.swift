import Application
import TestKit
import Testing
import Wire

@Suite struct AuthorisationMatrixTests {
    @Test("The matrix has every route of the server, and no other")
    func complete() throws {
        let routes = try Application.routes().map { "\($0.method) \($0.pattern)" }
        #expect(Set(Matrix.lines.map(\.name)) == Set(routes))
        #expect(Matrix.lines.count == routes.count)
        #expect(Matrix.size == routes.count, "a line that cannot be read")
    }

    @Test("Every route answers every kind of caller as the matrix says, and a refusal changes nothing")
    func matrix() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines { try await check(line, cast) }
        }
    }

    private func check(_ line: Line, _ cast: Cast) async throws {
        var calls: [Who: Call] = [:]
        for who in Who.allCases { calls[who] = try await Requests.call(line, cast, for: who) }
        let before = try await Snapshot.of(cast.server)
        for who in line.refused {
            let answer = try await cast.send(#require(calls[who]), by: who)
            #expect(answer.status == line.status(for: who), "\(line.name) as \(who): \(answer.text)")
            if line.pattern.hasPrefix("/v1") { expectProblem(answer, line, who) }
        }
        let changes = try await Snapshot.of(cast.server).changes(since: before)
        // What a refused enrolment leaves is its entry in the audit log.
        #expect(changes.filter { line.name != "POST /v1/devices" || $0 != "audit_entry" } == [], "\(line.name)")
        for who in line.allowed {
            let answer = try await cast.send(#require(calls[who]), by: who)
            #expect(answer.status == line.status(for: who), "\(line.name) as \(who): \(answer.text)")
        }
    }

    private func expectProblem(_ answer: Client.Answer, _ line: Line, _ who: Who) {
        let wanted: String? =
            switch answer.status {
            case 401: who == .ended ? "session-ended" : "unauthenticated"
            case 403: "forbidden"
            case 404: "not-found"
            default: nil
            }
        if let wanted { #expect(answer.problem == "/problems/\(wanted)", "\(line.name) as \(who)") }
        #expect(answer.header("Content-Type") == "application/problem+json", "\(line.name) as \(who)")
        #expect(answer["instance"]?.text == answer.header("Request-Id"), "\(line.name) as \(who)")
        if answer.status == 401 { #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true) }
    }

    @Test("A token proves nothing anywhere but in Authorization: Bearer, and not when anything in it was altered")
    func places() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let token = admin.accessToken
            let parts = token.split(separator: ".").map(String.init)
            let altered = [
                "", " ", "Bearer", "Bearer ", "Basic \(token)", token, "Bearer \(token)x", "Bearer \(token) x",
                "Bearer \(parts[0]).\(parts[1]).", "Bearer .\(parts[1]).\(parts[2])",
                "Bearer \(parts[0]).\(parts[2]).\(parts[1])", "Bearer \(String(token.dropLast(2)))",
                "Bearer \(String(repeating: "a", count: 5_000))",
            ]
            for value in altered {
                let answer = try await server.client.send("GET", "/v1/session", headers: [("Authorization", value)])
                #expect(answer.status == 401, "\(value.prefix(40))")
                #expect(answer.problem == "/problems/unauthenticated")
            }
            for target in ["/v1/session?access_token=\(token)", "/v1/events?token=\(token)"] {
                #expect(try await server.client.send("GET", target).status == 401)
            }
            let cookie = [("Cookie", "access_token=\(token)")]
            #expect(try await server.client.send("GET", "/v1/session", headers: cookie).status == 401)
            #expect(try await server.client.send("GET", "/metrics", headers: metrics(server)).status == 200)
        }
    }

    private func metrics(_ server: TestServer) -> [(String, String)] {
        [("Authorization", "Bearer \(server.settings.metricsToken ?? "")")]
    }
}
