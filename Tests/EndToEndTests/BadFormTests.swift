import TestKit
import Testing
import Wire

/// Forms and queries of OAuth's endpoints, which answer in OAuth's own words.
@Suite struct BadFormTests {
    private static let malformed: [(what: String, form: [UInt8])] = [
        ("nothing", []), ("no pairs", Array("&&&".utf8)), ("a bad escape", Array("token=%zz".utf8)),
        ("half an escape", Array("token=%4".utf8)), ("NUL", Array("token=a%00b".utf8)), ("a raw NUL", [0x61, 0x3D, 0]),
        ("invalid UTF-8", Array("token=%C3%28".utf8)), ("raw invalid UTF-8", Array("token=".utf8) + [0xFF]),
        ("a surrogate", Array("token=%ED%A0%80".utf8)), ("JSON", Array("{\"token\":\"x\"}".utf8)),
        ("a thousand pairs", Array(String(repeating: "a=b&", count: 1_000).utf8)),
        ("a long name", Array((String(repeating: "n", count: 60_000) + "=1").utf8)),
    ]

    @Test("A malformed form is an invalid request in OAuth's words, and changes nothing")
    func malformed() async throws {
        try await TestServer.with { server in
            let before = try await Snapshot.of(server)
            for target in ["/oauth2/token", "/oauth2/revoke"] {
                for (what, form) in Self.malformed {
                    let answer = try await post(form, to: target, server)
                    #expect(answer.status == 400, "\(target) \(what): \(answer.text)")
                    #expect(answer["error"]?.text == "invalid_request", "\(target) \(what): \(answer.text)")
                    #expect(answer.header("Cache-Control") == "no-store")
                }
            }
            for (what, form) in Self.malformed {
                let answer = try await post(form, to: "/oauth2/authorize", server)
                #expect(answer.status == 400, "\(what): \(answer.status)")
                #expect(answer.header("Content-Type")?.hasPrefix("text/html") == true, "\(what)")
                #expect(answer.header("Location") == nil, "\(what)")
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    private func post(_ form: [UInt8], to target: String, _ server: TestServer) async throws -> Client.Answer {
        let headers = [("Content-Type", "application/x-www-form-urlencoded")]
        return try await server.client.send("POST", target, headers: headers, body: form)
    }

    @Test("Each parameter of a good form left out, repeated, over-long or of another kind is refused in OAuth's words")
    func parameters() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let form = try await Requests.call(Matrix.line("POST /oauth2/token"), cast, for: .none).form ?? ""
            let pairs = (FormCoding.decode(Array(form.utf8)) ?? []).map { ($0.name, $0.value) }
            #expect(pairs.count == 5)
            let before = try await Snapshot.of(server)
            for index in pairs.indices {
                var without = pairs
                without.remove(at: index)
                for bad in [without, pairs + [pairs[index]]] {
                    let answer = try await post(Array(FormCoding.encode(bad).utf8), to: "/oauth2/token", server)
                    #expect(answer.status == 400 && answer["error"]?.text == "invalid_request", "\(answer.text)")
                }
                for value in [String(repeating: "x", count: 20_000), "é\u{7}", "' OR 1=1 --", "\u{1F600}", "x\r\ny: z"]
                {
                    var changed = pairs
                    changed[index].1 = value
                    let answer = try await post(Array(FormCoding.encode(changed).utf8), to: "/oauth2/token", server)
                    #expect([400, 401].contains(answer.status), "\(pairs[index].0): \(answer.status) \(answer.text)")
                    #expect(answer["error"]?.text?.isEmpty == false, "\(answer.text)")
                    #expect(!answer.text.contains(value.prefix(8)))
                }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test(
        "Until app and return address are known to belong together nobody is sent anywhere; then back, with the error")
    func authorize() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let good = try await Requests.call(Matrix.line("GET /oauth2/authorize"), cast, for: .none).target
            #expect(try await server.client.send("GET", good).status == 200)
            let page = [
                ("client_id=notes", "client_id=unknown"), ("client_id=notes", "client_id=%00"),
                ("client_id=notes", "x=y"),
                ("127.0.0.1", "evil.example"), ("callback", "callback%2F..%2Fother"), ("callback", "callback%23x"),
                ("http%3A", "javascript%3A"), ("client_id=notes", "client_id=notes&client_id=notes"),
            ]
            for (old, new) in page {
                let answer = try await server.client.send("GET", good.replacing(old, with: new))
                #expect(answer.status == 400, "\(new)")
                #expect(answer.header("Location") == nil, "\(new)")
            }
            let back = [
                ("response_type=code", "response_type=token", "unsupported_response_type"),
                ("scope=openid", "scope=device_sso", "invalid_scope"), ("S256", "plain", "invalid_request"),
                ("code_challenge=", "code_challenge=x", "invalid_request"),
                ("scope=openid", "scope=openid&scope=openid", "invalid_request"),
                ("scope=openid", "scope=openid&request=x", "request_not_supported"),
                ("scope=openid", "scope=openid&prompt=none", "login_required"),
            ]
            for (old, new, error) in back {
                let answer = try await server.client.send("GET", good.replacing(old, with: new))
                #expect([302, 303].contains(answer.status), "\(new)")
                let location = answer.header("Location") ?? ""
                #expect(location.hasPrefix(TestServer.redirect + "?"), "\(location)")
                #expect(location.queryValue("error") == error, "\(location)")
                #expect(location.queryValue("code") == nil)
            }
        }
    }

    @Test("A ticket that was altered, made up or kept too long signs nobody in, and neither does another site's form")
    func tickets() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let call = try await Requests.call(Matrix.line("POST /oauth2/authorize"), cast, for: .none)
            let pairs = (FormCoding.decode(Array((call.form ?? "").utf8)) ?? []).map { ($0.name, $0.value) }
            let ticket = try #require(pairs.first { $0.0 == "request" }?.1)
            for bad in [
                "", "x", String(ticket.dropLast()), ticket + "A", String(ticket.reversed()),
                "AAAA" + ticket.dropFirst(4),
            ] {
                let form = pairs.map { $0.0 == "request" ? ($0.0, bad) : $0 }
                let answer = try await post(Array(FormCoding.encode(form).utf8), to: "/oauth2/authorize", server)
                #expect(answer.status == 400 && answer.header("Location") == nil, "\(bad.prefix(20))")
            }
            let good = Array(FormCoding.encode(pairs).utf8)
            for header in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Origin", "null")] {
                let headers = [("Content-Type", "application/x-www-form-urlencoded"), header]
                let answer = try await server.client.send("POST", "/oauth2/authorize", headers: headers, body: good)
                #expect(answer.status == 403 && answer.header("Location") == nil, "\(header)")
            }
            server.clock.advance(by: .seconds(601))
            #expect(try await post(good, to: "/oauth2/authorize", server).status == 400)
        }
    }
}
