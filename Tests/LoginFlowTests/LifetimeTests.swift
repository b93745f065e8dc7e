import Application
import Domain
import TestKit
import Testing
import Wire

/// What tokens and sessions leave behind, and when they are over.
@Suite struct LifetimeTests {
    @Test("Each exchange of a token that was exchanged before is counted, the first one is not")
    func repeats() async throws {
        try await TestServer.with { server in
            let token = try #require(try await server.signInAdmin().refreshToken)
            for _ in 0..<3 { #expect(try await server.refresh(token).status == 200) }
            let repeats = server.observations.filter { if case .refreshRepeated = $0 { true } else { false } }
            #expect(repeats.count == 2)
            let metrics = [("Authorization", "Bearer metrics-token-of-the-tests")]
            let page = try await server.client.send("GET", "/metrics", headers: metrics)
            #expect(page.text.contains("\nenfilade_refresh_token_repeats_total 2\n"))
        }
    }

    @Test("However often it is refreshed, a session ends when its days are over")
    func limit() async throws {
        try await TestServer.with({ $0.sessionDays = 2 }) { server in
            let first = try await server.signInAdmin()
            var token = try #require(first.refreshToken)
            for _ in 0..<47 {
                server.clock.advance(by: .seconds(3_600))
                let answer = try await server.refresh(token)
                #expect(answer.status == 200)
                token = try #require(answer["refresh_token"]?.text)
            }
            server.clock.advance(by: .seconds(3_600))
            #expect(try await server.refresh(token).error == "invalid_grant")
            #expect(try await server.signInAdmin().get("/v1/session").status == 200)
        }
    }

    @Test("A session that is older than a limit set later is refused at its next refresh, and its end is audited")
    func shorterLimit() async throws {
        try await TestServer.with { server in
            let signedIn = try await server.signInAdmin()
            let strict = try await TestServer.start(on: server.database) { $0.sessionDays = 1 }
            strict.clock.advance(by: .seconds(86_401))
            #expect(try await strict.refresh(#require(signedIn.refreshToken)).error == "invalid_grant")
            await strict.stop()
            let ended = "SELECT count(*) FROM audit_entry WHERE action = 'session.ended' AND reason = 'expired'"
            #expect(try await server.sql(ended) == "1\n")
            #expect(try await server.refresh(#require(signedIn.refreshToken)).error == "invalid_grant")
        }
    }

    @Test("Who guesses codes leaves no lock on the app that others sign in to")
    func guesses() async throws {
        try await TestServer.with { server in
            let locks = "SELECT xmax FROM app WHERE id = 'enfilade-cli'"
            let before = try await server.sql(locks)
            #expect(try await server.redeem("a-code-that-never-was").error == "invalid_grant")
            #expect(try await server.redeem("a-code-that-never-was", ["client_id": "no-app"]).error == "invalid_client")
            #expect(try await server.sql(locks) == before)
            _ = try await server.redeem(server.code())
            #expect(try await server.sql(locks) != before, "a good code does hold the app")
        }
    }

    @Test("An extension that gets another parent has to sign in again: its tokens reached the old one's mailbox")
    func otherParent() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            for app in ["chat", "mail"] { try await server.makeApp(app, by: admin) }
            func registration(_ parent: String) -> JSON {
                [
                    "id": "share", "name": "Share", "kind": "extension", "parent": .string(parent),
                    "redirectUris": [.string(TestServer.redirect)], "scopes": ["openid", "mailbox.read"],
                ]
            }
            let made = try await admin.call("POST", "/v1/apps", registration("chat"))
            #expect(made.status == 201)
            let share = try await server.signIn(
                "admin", password: TestServer.adminPassword, app: "share", scope: "openid mailbox.read")
            var change = registration("chat").fields ?? [:]
            change["id"] = nil
            let tag = [("If-Match", try #require(made.header("ETag")))]
            let same = try await admin.call("PUT", "/v1/apps/share", .object(change), headers: tag)
            #expect(same.status == 200, "\(same.text)")
            #expect(try await share.get("/v1/session").status == 200)
            change["parent"] = "mail"
            #expect(try await admin.call("PUT", "/v1/apps/share", .object(change), headers: tag).status == 200)
            #expect(try await share.get("/v1/session").problem == "/problems/session-ended")
        }
    }
}

/// Passwords whose hashes were made at another cost.
@Suite struct PasswordCostTests {
    @Test("A password is hashed anew at its first sign-in after the cost was changed; many at once all succeed")
    func renewed() async throws {
        try await TestServer.with { server in
            let dearer = try await TestServer.start(on: server.database) { $0.passwordMemory = 9 }
            let outdated = "SELECT count(*) FROM account WHERE password_hash NOT LIKE '%m=9216,%'"
            #expect(try await server.sql(outdated) == "1\n")
            #expect(try await dearer.post("admin", "wrong password", ticket: dearer.ticket()).status == 401)
            #expect(try await server.sql(outdated) == "1\n")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let ticket = try await dearer.ticket()
                        return try await dearer.post("admin", TestServer.adminPassword, ticket: ticket).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses == [303, 303, 303, 303])
            #expect(try await server.sql(outdated) == "0\n")
            await dearer.stop()
            #expect(try await server.signInAdmin().get("/v1/session").status == 200)
        }
    }
}
