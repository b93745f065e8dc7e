import Application
import TestKit
import Testing
import Wire

/// Bodies that are wrong in ways any body can be, on every route that takes one.
@Suite struct BadBodyTests {
    /// The fields that may not be left out, for every route with a JSON body.
    private static let required: [String: Set<String>] = [
        "POST /v1/accounts": ["/username", "/displayName"],
        "PATCH /v1/accounts/{account}": [],
        "POST /v1/apps": ["/id", "/name", "/kind", "/redirectUris", "/scopes"],
        "PUT /v1/apps/{app}": ["/name", "/kind", "/redirectUris", "/scopes"],
        "POST /v1/devices": ["/name", "/platform", "/identityKey", "/agreementKey", "/signature"],
        "PATCH /v1/devices/{device}": [],
        "POST /v1/messages": [
            "/id", "/recipients", "/recipients/accountId", "/recipients/deviceListVersion", "/recipients/envelopes",
            "/recipients/envelopes/deviceId", "/recipients/envelopes/keyVersion", "/recipients/envelopes/ciphertext",
        ],
        "POST /v1/mailbox/acks": ["/through"],
        "POST /v1/config/reports": [
            "/revision", "/state", "/reasons/key", "/reasons/code", "/reasons/detail",
        ],
        "PUT /v1/apps/{app}/config": ["/values", "/reason"],
        "POST /v1/apps/{app}/config/rollbacks": ["/revision", "/reason"],
    ]

    @Test("Whatever is wrong with a JSON body is answered 400 with the field's pointer, and changes nothing")
    func mutants() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            var count = 0
            for line in Matrix.lines {
                let who = Self.author(of: line)
                let call = try await Requests.call(line, cast, for: who)
                guard let body = call.json else { continue }
                let required = try #require(Self.required[line.name], "\(line.name) is not in this table")
                let before = try await Snapshot.of(server)
                for mutant in Mutants(of: body, required: required).all {
                    let answer = try await cast.send(call, by: who, body: mutant.body)
                    expectRefusal(answer, mutant, line)
                    count += 1
                }
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(line.name)")
                // The body itself is good, so that only what was done to it can have been refused.
                #expect(try await cast.send(call, by: who).status == line.status(for: who), "\(line.name)")
            }
            #expect(count > 1_000)
        }
    }

    private static func author(of line: Line) -> Who { line.status(for: .member) < 300 ? .member : .admin }

    private func expectRefusal(_ answer: Client.Answer, _ mutant: Mutant, _ line: Line) {
        let place = "\(line.name): \(mutant.what) at \(mutant.pointer): \(answer.status) \(answer.text)"
        #expect(answer.status == 400, "\(place)")
        #expect(answer.problem == "/problems/invalid-request", "\(place)")
        #expect(answer.pointers.contains { Self.names($0, mutant.pointer) }, "\(place)")
    }

    /// Whether an answer names the field: itself, an item of it, or the list that a wrong item is in.
    private static func names(_ pointer: String, _ field: String) -> Bool {
        if pointer == field { return true }
        if !field.isEmpty, pointer.hasPrefix(field + "/") { return true }
        guard let last = field.split(separator: "/").last, Int(last) != nil else { return false }
        return pointer == field.dropLast(last.count + 1)
    }

    @Test("A body over its route's limit is refused before it is read, and one without its media type too")
    func framing() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for line in Matrix.lines {
                let who: Who = line.pattern.hasPrefix("/oauth2") ? .none : Self.author(of: line)
                let call = try await Requests.call(line, cast, for: who)
                guard call.bytes != nil else { continue }
                let before = try await Snapshot.of(server)
                try await expectTooLarge(call, cast, who)
                try await expectUnsupported(call, cast, who)
                #expect(try await Snapshot.of(server).changes(since: before) == [], "\(line.name)")
            }
        }
    }

    /// Nothing of the body is ever sent.
    private func expectTooLarge(_ call: Call, _ cast: Cast, _ who: Who) async throws {
        let limit = Self.limit(of: call, cast.server)
        for extra in [1, 1 << 40] {
            let headers = call.headers + cast.authorization(of: who) + [("Content-Length", "\(limit + extra)")]
            let answer = try await cast.server.client.send(call.method, call.target, headers: headers)
            #expect(answer.status == 413, "\(call.method) \(call.target): \(answer.text)")
        }
    }

    private static func limit(of call: Call, _ server: TestServer) -> Int {
        if call.target == "/v1/messages" { return server.settings.messageBytes }
        if call.method == "PUT", call.target.hasSuffix("/config") {
            return server.settings.configurationBytes + 8 * 1024
        }
        return 64 * 1024
    }

    private func expectUnsupported(_ call: Call, _ cast: Cast, _ who: Who) async throws {
        let plain = call.headers.filter { $0.0 != "Content-Type" } + cast.authorization(of: who)
        let good = call.headers.filter { $0.0 == "Content-Type" }
        let wrong: [[(String, String)]] = [
            [], [("Content-Type", "text/plain")], [("Content-Type", "application/jsonx")],
            [("Content-Type", "multipart/form-data; boundary=x")], [("Content-Type", "")],
            good + [("Content-Encoding", "gzip")],
        ]
        for headers in wrong {
            let answer = try await cast.server.client.send(
                call.method, call.target, headers: plain + headers, body: call.bytes)
            #expect(answer.status == 415, "\(call.method) \(call.target) \(headers): \(answer.text)")
        }
    }

    @Test("A chunked body that grows over the limit is refused, and a route without body takes none")
    func chunked() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let before = try await Snapshot.of(server)
            let head = "Host: x\r\nAuthorization: Bearer \(admin.accessToken)\r\n"
            try await blocking {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /v1/accounts HTTP/1.1\r\n\(head)Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                let chunk = "8000\r\n" + String(repeating: " ", count: 0x8000) + "\r\n"
                // The server may close before the last of it was written.
                for _ in 0..<3 { try? client.send(chunk) }
                try? client.send("0\r\n\r\n")
                #expect(try client.answer().status == 413)
                for target in ["GET /v1/accounts", "DELETE /v1/sessions/\(admin.session)", "GET /healthz"] {
                    let client = try RawClient(port: server.port)
                    try client.send("\(target) HTTP/1.1\r\n\(head)Content-Length: 2\r\n\r\n{}")
                    #expect(try client.answer().status == 400, "\(target)")
                }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("A session that ends while a body is waited for is noticed, also when the body turns out to be empty")
    func endedMeanwhile() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let other = try await server.signInAdmin()
            let client = try await blocking { () throws in
                let client = try RawClient(port: server.port)
                try client.send(
                    """
                    POST /v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(admin.accessToken)\r
                    Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n
                    """)
                #expect(try client.head().status == 100, "the head was read")
                return client
            }
            #expect(try await other.call("DELETE", "/v1/sessions/\(admin.session)").status == 204)
            let status = try await blocking { () throws in
                try client.send("0\r\n\r\n")
                return try client.answer().status
            }
            #expect(status == 401)
        }
    }

    @Test("A body sent under Expect: 100-continue is asked for when it is welcome, and not when it is too large")
    func expectation() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let body = "{\"username\":\"ada\",\"displayName\":\"Ada\"}"
            let head = """
                POST /v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(admin.accessToken)\r
                Content-Type: application/json\r\nExpect: 100-continue\r\n
                """
            try await blocking {
                let client = try RawClient(port: server.port)
                try client.send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n")
                #expect(try client.head().status == 100)
                try client.send(body)
                #expect(try client.answer().status == 201)
                let large = try RawClient(port: server.port)
                try large.send("\(head)Content-Length: 70000\r\n\r\n")
                #expect(try large.answer().status == 413)
            }
        }
    }
}
