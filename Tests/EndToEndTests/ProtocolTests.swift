import Application
import TestKit
import Testing
import Wire

/// What every route does by HTTP itself.
@Suite struct ProtocolTests {
    /// These grow or change while they are looked at.
    private static let restless: Set<String> = ["/metrics", "/v1/audit/entries", "/oauth2/authorize"]

    @Test("HEAD says what GET would, without the body")
    func head() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines where line.method == "GET" {
                let call = try await Requests.call(line, cast, for: .admin)
                let headers = call.headers + cast.authorization(of: .admin)
                let get = try await server.client.send("GET", call.target, headers: headers)
                let head = try await server.client.send("HEAD", call.target, headers: headers)
                #expect(head.status == get.status, "\(line.name)")
                #expect(head.body.isEmpty)
                #expect(head.header("Content-Type") == get.header("Content-Type"), "\(line.name)")
                #expect(head.header("ETag") == get.header("ETag"), "\(line.name)")
                guard !Self.restless.contains(line.pattern), line.pattern != "/v1/events" else { continue }
                #expect(head.header("Content-Length") == "\(get.body.count)", "\(line.name)")
            }
        }
    }

    @Test("HEAD of the event stream ends at once and leaves no stream behind")
    func headOfStream() async throws {
        try await TestServer.with { server in
            let member = try await Cast.gather(on: server).member.owner
            for _ in 0..<server.settings.streamsPerDevice * 2 {
                try await blocking {
                    let client = try RawClient(port: server.port)
                    try client.send(
                        "HEAD /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(member.accessToken)\r\n\r\n")
                    let answer = try client.answer(isHead: true)
                    #expect(answer.status == 200)
                    #expect(answer.header("Content-Type")?.hasPrefix("text/event-stream") == true)
                    #expect(try client.isEnded())
                }
            }
            let stream = try await EventReader.open(member)
            _ = try await stream.next("ready")
            stream.close()
        }
    }

    @Test("OPTIONS tells the methods of every path, and every other method is answered 405 with the same list")
    func methods() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let paths = Dictionary(grouping: Matrix.lines, by: \.pattern)
            for (pattern, lines) in paths {
                let call = try await Requests.call(#require(lines.first), cast, for: .admin)
                let known = Set(lines.map(\.method))
                let allowed = known.union(known.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"])
                let options = try await server.client.send("OPTIONS", call.target)
                #expect(options.status == 204, "\(pattern)")
                #expect(Self.methods(options) == allowed, "\(pattern)")
                for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] where !known.contains(method) {
                    let answer = try await server.client.send(
                        method, call.target, headers: cast.authorization(of: .admin))
                    #expect(answer.status == 405, "\(method) \(pattern)")
                    #expect(Self.methods(answer) == allowed, "\(method) \(pattern)")
                    #expect(answer.header("Content-Type") == "application/problem+json")
                }
            }
            for method in ["TRACE", "CONNECT", "get", "BREW", "PROPFIND"] {
                #expect(try await server.client.send(method, "/v1/accounts").status == 501, "\(method)")
            }
        }
    }

    private static func methods(_ answer: Client.Answer) -> Set<String> {
        Set((answer.header("Allow") ?? "").split(separator: ",").map { $0.filter { $0 != " " } })
    }

    @Test("A path that leads nowhere is not found, with or without a token, and a slash too many is another path")
    func nowhere() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            for target in [
                "/", "/v1", "/v1/", "/v2/accounts", "/v1/accounts/", "/v1//accounts", "/v1/Accounts", "/v1/accounts/..",
                "/v1/devices/./x", "/v1/accounts/%2e%2e/apps", "/v1/devices/a/b/c", "/oauth2", "/favicon.ico",
                "/v1/devices/a%2Fb/c",
            ] {
                for answer in [try await server.client.send("GET", target), try await admin.get(target)] {
                    #expect(answer.status == 404, "\(target)")
                    #expect(answer.problem == "/problems/not-found", "\(target)")
                }
            }
        }
    }

    @Test("An answer that the client does not accept is refused 406 before anything is done")
    func notAcceptable() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines where line.method != "DELETE" && line.pattern != "/oauth2/revoke" {
                let who: Who = line.pattern.hasPrefix("/oauth2") ? .none : .admin
                var call = try await Requests.call(line, cast, for: who)
                let before = try await Snapshot.of(server)
                call.headers.append(("Accept", ""))
                for accept in ["image/png", "application/xml, text/csv;q=0.5", "*/*;q=0"] {
                    call.headers[call.headers.count - 1].1 = accept
                    let answer = try await cast.send(call, by: who)
                    #expect(answer.status == 406, "\(line.name) \(accept): \(answer.status)")
                }
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(line.name)")
            }
            for accept in ["*/*", "application/*", "text/html, application/json;q=0.1", "APPLICATION/JSON"] {
                let answer = try await server.client.send("GET", "/healthz", headers: [("Accept", accept)])
                #expect(answer.status == 200, "\(accept)")
            }
        }
    }

    @Test("Every answer has a Request-Id, the client's own when it is well formed, and says whether it may be stored")
    func everyAnswer() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines {
                for who in [Who.none, .admin] {
                    var call = try await Requests.call(line, cast, for: who)
                    call.headers.append(("X-Request-Id", "ignored"))
                    let answer = try await cast.send(call, by: who)
                    #expect(answer.header("Request-Id")?.isEmpty == false, "\(line.name) \(who)")
                    #expect(answer.header("Cache-Control") != nil, "\(line.name) \(who)")
                    #expect(answer.header("Server") == nil, "\(line.name) \(who)")
                }
            }
            let own = try await server.client.send("GET", "/healthz", headers: [("Request-Id", "my-own-id_1.2")])
            #expect(own.header("Request-Id") == "my-own-id_1.2")
            for bad in ["", "a b", String(repeating: "a", count: 300), "é", "a\"b", "<script>"] {
                let answer = try await server.client.send("GET", "/v1/session", headers: [("Request-Id", bad)])
                #expect(answer.header("Request-Id") != bad, "\(bad)")
                #expect(answer["instance"]?.text == answer.header("Request-Id"))
            }
        }
    }
}
