import Application
import Crypto
import Domain
import TestKit
import Testing
import Wire

/// Many sign-ins at once, and sign-ins of nobody.
@Suite struct CrowdTests {
    private func signInTicket(_ server: TestServer) async throws -> String {
        let query = FormCoding.encode([
            ("response_type", "code"), ("client_id", "enfilade-cli"), ("redirect_uri", TestServer.redirect),
            ("scope", "openid"), ("code_challenge_method", "S256"),
            ("code_challenge", PKCE.challenge(verifier: TestServer.verifier)),
        ])
        let page = try await server.client.send("GET", "/oauth2/authorize?" + query)
        return try #require(page.text.hiddenField("request"))
    }

    private func sql(_ server: TestServer, _ text: String) async throws -> String {
        try await PostgresCluster.shared.psql(text, database: server.database)
    }

    @Test("When the line for passwords is full who comes is told at once, and what nobody looked at is no failure")
    func fullLine() async throws {
        try await TestServer.with({
            $0.passwordLanes = 1
            $0.passwordMemory = 128
            $0.longestWait = 50
        }) { server in
            let ticket = try await signInTicket(server)
            let answers = try await withThrowingTaskGroup(of: Client.Answer.self) { group in
                for number in 0..<40 {
                    let client = server.makeClient()
                    let form = FormCoding.encode([
                        ("request", ticket), ("username", "name\(number)"), ("password", "wrong"),
                    ])
                    group.addTask { try await client.post(form: form, to: "/oauth2/authorize") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let refused = answers.filter { $0.status == 503 }
            #expect(!refused.isEmpty)
            #expect(refused.allSatisfy { $0.header("Retry-After") != nil })
            let compared = answers.count { $0.status == 401 }
            #expect(compared + refused.count == 40)
            let counted = try await sql(server, "SELECT count(*) FROM sign_in_throttle WHERE failures > 0")
            #expect(Int(counted.filter(\.isNumber)) == compared)
            let told = server.observations.filter(\.isTurnedAway).count
            #expect(told == refused.count)
        }
    }

    @Test("Refused sign-ins of unknown names are few entries that say how many there were")
    func unknownNames() async throws {
        let server = try await TestServer.start()
        let ticket = try await signInTicket(server)
        for number in 0..<6 {
            let form = FormCoding.encode([
                ("request", ticket), ("username", "nobody\(number)"), ("password", "wrong"),
            ])
            #expect(try await server.client.post(form: form, to: "/oauth2/authorize").status == 401)
        }
        await server.stop()
        let entries = try await sql(
            server, "SELECT after FROM audit_entry WHERE reason = 'unknown-account' ORDER BY occurred_at")
        #expect(entries.split(separator: "\n").contains { $0.contains("\"attempts\":5") })
        let count = try await sql(server, "SELECT count(*) FROM audit_entry WHERE reason = 'unknown-account'")
        #expect(Int(count.filter(\.isNumber)) == 2)
        try await Template.drop(server.database)
    }
}

extension Observation {
    fileprivate var isTurnedAway: Bool {
        guard case .turnedAway = self else { return false }
        return true
    }
}
