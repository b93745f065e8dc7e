import Glibc
import TestKit
import Testing
import Wire

@testable import Crypto

@Suite struct LogTests {
    @Test(
        "The log of a whole story has one line for each request, every line one JSON object, and none of the secrets",
        .timeLimit(.minutes(5)))
    func story() async throws {
        let scratch = try Scratch()
        let database = try await Template.shared.copy()
        var environment = try Template.environment(for: database)
        environment["ENFILADE_DATABASE_URL"]? += " password=the-password-of-the-database"
        environment["ENFILADE_METRICS_TOKEN_FILE"] = try scratch.write("token-of-the-metrics\n", to: "metrics-token")
        let server = try await ServerProcess.launch(environment, database: database)
        try await server.started()
        var secrets = ["the-password-of-the-database", "token-of-the-metrics", TestServer.adminPassword]
        secrets.append(try Self.content(of: #require(environment["ENFILADE_ROOT_KEY_FILE"])))
        secrets += try await Self.tellStory(server)
        secrets += try Self.misbehave(server, server.answers.flatMap(Self.secrets))
        #expect(await server.stop() == .status(0))
        secrets += server.answers.flatMap(Self.secrets)
        let log = server.log.lines.joined(separator: "\n")
        let told = Set(secrets.filter { log.contains($0) })
        #expect(told == [])
        #expect(secrets.allSatisfy { $0.utf8.count >= 8 })
        Self.checkLines(server)
        print("a story's log: \(server.log.lines.count) lines hold none of \(Set(secrets).count) secrets")
        try await Template.drop(database)
    }

    private static func checkLines(_ server: ServerProcess) {
        let entries = server.log.entries
        #expect(entries.count == server.log.lines.count, "every line is JSON")
        #expect(entries.allSatisfy { $0["time"]?.text != nil && $0["level"]?.text != nil && $0["event"]?.text != nil })
        let requests = entries.filter { $0["event"]?.text == "request" }
        let ids = requests.compactMap { $0["requestId"]?.text }
        let answered = server.answers.compactMap { $0.header("Request-Id") }
        #expect(Set(ids).count == ids.count, "no request has two lines")
        #expect(Set(answered).isSubset(of: ids))
        // Besides the clients' answers: the stream, and the three requests of `misbehave`.
        #expect(requests.count == answered.count + 1 + misbehaviours)
    }

    /// Signs in, fails to, enrols, sends, publishes, reads; the secrets that went into requests.
    private static func tellStory(_ server: ServerProcess) async throws -> [String] {
        let cast = try await Cast.enrol(on: server, senders: 1, receivers: [1])
        let (sender, receiver) = (cast.senders[0], cast.receivers[0])
        let reader = try await EventReader.open(receiver.owner)
        _ = try await reader.next("ready")
        let text = "what only the two of them may read"
        #expect(try await sender.send(text, to: receiver).status == 201)
        _ = try await reader.next("message")
        let values: JSON = ["values": ["server.password": "a-value-of-the-configuration"], "reason": "a-reason-for-it"]
        let published = try await cast.admin.call(
            "PUT", "/v1/apps/chat/config", values, headers: [("If-Match", "\"0\"")])
        #expect(published.status == 200)
        _ = try await reader.next("config")
        #expect(try await receiver.owner.call("POST", "/v1/mailbox/acks", ["through": 1]).status == 200)
        #expect(try await cast.admin.get("/v1/audit/entries").status == 200)
        for wrong in ["a-wrong-password", "another-wrong-password"] {
            await #expect(throws: TestServer.Fault.self) {
                _ = try await server.signIn("sender0", password: wrong, app: "chat")
            }
        }
        let client = server.makeClient()
        let bad = FormCoding.encode([
            ("grant_type", "authorization_code"), ("code", "a-code-that-never-was"), ("client_id", "chat"),
            ("redirect_uri", TestServer.redirect), ("code_verifier", TestServer.verifier),
        ])
        #expect(try await client.post(form: bad, to: "/oauth2/token").status == 400)
        let refresh = FormCoding.encode([
            ("grant_type", "refresh_token"), ("refresh_token", receiver.owner.refreshToken ?? ""),
            ("client_id", "chat"),
        ])
        #expect(try await client.post(form: refresh, to: "/oauth2/token").status == 200)
        let metrics = [("Authorization", "Bearer token-of-the-metrics")]
        #expect(try await client.send("GET", "/metrics", headers: metrics).status == 200)
        #expect(try await sender.owner.call("POST", "/v1/messages", ["id": .string("not-an-id-\(text)")]).status == 400)
        #expect(try await receiver.owner.call("DELETE", "/v1/devices/\(receiver.id)").status == 204)
        #expect(try await reader.next("session").text == #"{"state":"ended"}"#)
        reader.close()
        return [
            text, Base64.encode(Array(text.utf8)), "a-value-of-the-configuration", "a-reason-for-it",
            "a-wrong-password", "another-wrong-password", "a-code-that-never-was", "sender0-password",
            "receiver0-password", TestServer.verifier, PKCE.challenge(verifier: TestServer.verifier),
            Base64.encode(sender.identity.publicKey), Base64.encode(sender.agreementKey),
            Base64.encode(receiver.identity.publicKey), Base64.encode(receiver.agreementKey),
        ]
    }

    private static let misbehaviours = 5

    /// Puts secrets where they do not belong: the query, the path, the method, a header that nobody reads.
    private static func misbehave(_ server: ServerProcess, _ secrets: [String]) throws -> [String] {
        let token = try #require(secrets.first { $0.hasPrefix("ey") })
        let requests = [
            "GET /v1/session?access_token=\(token) HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /v1/nowhere/\(token) HTTP/1.1\r\nHost: h\r\n\r\n",
            "SECRETMETHOD /v1/session HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /v1/session HTTP/1.1\r\nHost: h\r\nHost: \(token)\r\nAuthorization: Bearer \(token)\r\n\r\n",
            "GET /v1/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)x\r\nRequest-Id: \(token)\r\n\r\n",
        ]
        #expect(requests.count == misbehaviours)
        for request in requests {
            let client = try RawClient(port: server.port)
            try client.send(request)
            let status = try client.answer().status
            #expect((400...501).contains(status), "\(request.prefix(30)): \(status)")
        }
        return ["SECRETMETHOD"]
    }

    /// What an answer handed out in confidence.
    private static func secrets(in answer: Client.Answer) -> [String] {
        let fields = ["access_token", "refresh_token", "id_token"].compactMap { answer[$0]?.text }
        let code = answer.header("Location")?.queryValue("code")
        // A signature alone would do harm as well.
        let signatures = fields.compactMap { $0.split(separator: ".").last.map(String.init) }
        return fields + signatures + [code, answer.text.hiddenField("request")].compactMap { $0 }
    }

    private static func content(of path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        try #require(count > 0)
        return String(decoding: bytes[..<count].filter { $0 > 0x20 }, as: UTF8.self)
    }

    @Test("A database that cannot be reached is told without its password", .timeLimit(.minutes(5)))
    func unreachable() async throws {
        var environment = try Template.environment(for: "no_such_database")
        environment["ENFILADE_DATABASE_URL"] =
            "postgresql://enfilade_app:the-password-of-the-database@127.0.0.1:1/nowhere"
        let server = try await ServerProcess.launch(environment, database: "no_such_database")
        _ = try await server.log.event("faltered")
        #expect(await server.stop() == .status(0))
        #expect(!server.log.lines.joined().contains("the-password-of-the-database"))
        #expect(server.log.entries.count == server.log.lines.count)
    }

    @Test(
        "A database's address that is misspelt, or whose password is refused, is told without any part of it",
        .timeLimit(.minutes(5)),
        arguments: [
            // libpq takes parts of these passwords for a host, a port or an option, and quotes them.
            "postgresql://enfilade_app:hunter@two-secret@127.0.0.1:1/nowhere",
            "postgresql://enfilade_app:hunter/two-secret@127.0.0.1:1/nowhere",
            "postgresql://enfilade_app:hunter#two-secret@127.0.0.1:1/nowhere?hunter=two-secret",
            "postgresql://enfilade_app:hunter%two-secret@127.0.0.1:1/nowhere",
            "host=127.0.0.1 port=1 password=hunter two-secret", "host=127.0.0.1 port=hunter-two-secret",
            "host=/nowhere/hunter-two-secret password='hunter-two-secret",
        ])
    func misspelt(url: String) async throws {
        var environment = try Template.environment(for: "no_such_database")
        environment["ENFILADE_DATABASE_URL"] = url
        environment["ENFILADE_OWNER_DATABASE_URL"] = url
        for verb in ["migrate", "restored", "settings"] {
            let outcome = try await Binary.run([verb], environment)
            #expect(!(outcome.output + outcome.errors).contains("hunter"), "\(verb): \(outcome.errors)")
            #expect(!(outcome.output + outcome.errors).contains("two-secret"), "\(verb): \(outcome.errors)")
        }
        let server = try await ServerProcess.launch(environment, database: "no_such_database")
        _ = try await server.log.event("faltered")
        #expect(await server.stop() == .status(0))
        let log = server.log.lines.joined()
        #expect(!log.contains("hunter") && !log.contains("two-secret"), "\(log)")
    }
}
