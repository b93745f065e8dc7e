import Application
import TestKit
import Testing
import Wire

/// Publishing and reading over HTTP, with a database.
@Suite struct PublishingTests {
    @Test("What an administrator publishes is what the app reads at once, and 304 while nothing changes")
    func publish() async throws {
        try await Scene.with { (scene) async throws in
            let before = try await scene.device.get("/v1/config")
            #expect(before.json == ["revision": 0, "values": [:], "managed": true])
            let published = try await scene.publish(#"{"a": 1, "b": [null, 1.50]}"#, over: 0)
            #expect(published.status == 200)
            #expect(published.header("ETag") == "\"1\"")
            #expect(published["revision"]?.integer == 1)
            #expect(published["validateOnly"]?.flag == false)
            #expect(published["changes"]?.items?.map { $0["change"]?.text } == ["added", "added"])
            let read = try await scene.device.get("/v1/config")
            #expect(read.text == #"{"revision":1,"values":{"a":1,"b":[null,1.50]},"managed":true}"#)
            let tag = try #require(read.header("ETag"))
            #expect(tag != before.header("ETag"))
            let again = try await scene.device.get("/v1/config", headers: [("If-None-Match", tag)])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
    }

    @Test("Other apps keep their own configuration, an extension too")
    func apps() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            try await scene.server.makeApp("other-app", by: scene.admin)
            let other = try await scene.server.signIn("ada", app: "other-app")
            #expect(try await other.get("/v1/config")["revision"]?.integer == 0)
            let admin = try await scene.admin.get("/v1/apps/other-app/config")
            #expect(admin.json == ["app": "other-app", "revision": 0, "values": [:]])
            #expect(admin.header("ETag") == "\"0\"")
        }
    }

    @Test("validateOnly says what would change, and changes nothing")
    func validateOnly() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1, "b": 2}"#, over: 0)
            let dry = try await scene.publish(#"{"b": 3, "c": 4}"#, over: 1, query: "?validateOnly=true")
            #expect(dry.status == 200)
            #expect(dry.header("ETag") == "\"1\"")
            #expect(
                dry.json == [
                    "revision": 2, "validateOnly": true,
                    "changes": [
                        ["key": "a", "change": "removed", "before": 1],
                        ["key": "b", "change": "changed", "before": 2, "after": 3],
                        ["key": "c", "change": "added", "after": 4],
                    ],
                ])
            #expect(try await scene.device.get("/v1/config")["revision"]?.integer == 1)
            let stale = try await scene.publish(#"{"b": 3}"#, over: 0, query: "?validateOnly=true")
            #expect(stale.status == 412)
        }
    }

    @Test("Publishing what is published changes nothing")
    func unchanged() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1, "b": 2}"#, over: 0)
            let same = try await scene.publish(#"{"b": 2, "a": 1}"#, over: 1)
            #expect(same.status == 200)
            #expect(same.json == ["revision": 1, "changes": [], "validateOnly": false])
            let list = try await scene.admin.get("/v1/apps/suite-app/config/revisions")
            #expect(list["items"]?.items?.count == 1)
        }
    }

    @Test(
        "What cannot be published is refused and named",
        arguments: [
            (#"{"values": {"a": null}, "reason": "r"}"#, 400, "/values/a"),
            (#"{"values": [], "reason": "r"}"#, 400, "/values"),
            (#"{"values": {}}"#, 400, "/reason"),
            (#"{"values": {}, "reason": ""}"#, 400, "/reason"),
            (#"{"values": {}, "reason": "r", "more": 1}"#, 400, "/more"),
            (#"{"values": {"a": 1, "a": 2}, "reason": "r"}"#, 400, ""),
        ])
    func refused(body: String, status: Int, pointer: String) async throws {
        try await Scene.shared { (scene) async throws in
            let answer = try await scene.put(body, headers: [("If-Match", "\"0\"")])
            #expect(answer.status == status)
            #expect(answer["errors"]?.items?.compactMap { $0["pointer"]?.text } == [pointer])
        }
    }

    @Test("Without If-Match 428, with an old one 412, for an unknown app 404, without scope admin 403")
    func conditions() async throws {
        try await Scene.shared { (scene) async throws in
            let body = #"{"values": {"x": 1}, "reason": "r"}"#
            #expect(try await scene.put(body).status == 428)
            #expect(try await scene.put(body, headers: [("If-Match", "\"99\"")]).status == 412)
            #expect(try await scene.put(body, app: "no-such-app", headers: [("If-Match", "*")]).status == 404)
            #expect(try await scene.device.get("/v1/apps/suite-app/config").status == 403)
            #expect(try await scene.admin.get("/v1/apps/suite-app/config?x=1").status == 400)
        }
    }

    @Test("Values over the limit are refused with 413, also when only the body is too long")
    func tooLarge() async throws {
        try await Scene.with({ $0.configurationBytes = 1_024 }) { (scene) async throws in
            let fits = String(repeating: "x", count: 1_024 - 8)
            #expect(try await scene.publish("{\"a\":\"\(fits)\"}", over: 0).status == 200)
            #expect(try await scene.publish("{\"a\":\"\(fits)x\"}", over: 1).status == 413)
            let long = String(repeating: "x", count: 1_024 + 9 * 1_024)
            #expect(try await scene.publish("{\"a\":\"\(long)\"}", over: 1).status == 413)
        }
    }

    @Test("What was published is read right afterwards, however many read at the same time")
    func readYourWrites() async throws {
        try await Scene.with { (scene) async throws in
            let readers = try await withThrowingTaskGroup(of: SignedIn.self) { group in
                for _ in 0..<4 { group.addTask { try await scene.server.signIn("ada", app: "suite-app") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in readers {
                    group.addTask {
                        var last: Int64 = 0
                        while !Task.isCancelled {
                            let revision = try await reader.get("/v1/config")["revision"]?.integer ?? -1
                            #expect(revision >= last)
                            last = revision
                        }
                    }
                }
                for number in 0..<30 {
                    #expect(try await scene.publish("{\"a\": \(number)}", over: number).status == 200)
                    #expect(try await scene.device.get("/v1/config")["revision"]?.integer == Int64(number + 1))
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test("Of many who publish over the same revision at once exactly one does")
    func race() async throws {
        try await Scene.with { (scene) async throws in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    let admin = try await scene.server.signInAdmin()
                    group.addTask { try await scene.publish("{\"a\": \(number)}", over: 0, by: admin).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 7))
            #expect(try await scene.device.get("/v1/config")["revision"]?.integer == 1)
        }
    }
}

@Suite struct RevisionTests {
    @Test("A rollback is a new revision with the old values, once per key")
    func rollBack() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            _ = try await scene.publish(#"{"a": 2, "b": 1}"#, over: 1)
            let body: JSON = ["revision": 1, "reason": "It broke"]
            let headers = [("If-Match", "\"2\""), ("Idempotency-Key", "once")]
            let path = "/v1/apps/suite-app/config/rollbacks"
            let back = try await scene.admin.call("POST", path, body, headers: headers)
            #expect(back.status == 201)
            #expect(back.header("Location") == "/v1/apps/suite-app/config/revisions/3")
            #expect(back["changes"]?.items?.count == 2)
            let repeated = try await scene.admin.call("POST", path, body, headers: headers)
            #expect(repeated.status == 201)
            #expect(repeated.body == back.body)
            #expect(repeated.header("ETag") == "\"3\"")
            let other = try await scene.admin.call("POST", path, ["revision": 2, "reason": "x"], headers: headers)
            #expect(other.status == 422)
            let read = try await scene.admin.get("/v1/apps/suite-app/config/revisions/3")
            #expect(read["values"] == ["a": 1])
            #expect(read["rolledBackFrom"]?.integer == 1)
            #expect(read["changes"]?.items?.map { $0["change"]?.text } == ["changed", "removed"])
            let tag = try #require(read.header("ETag"))
            let path3 = "/v1/apps/suite-app/config/revisions/3"
            #expect(try await scene.admin.get(path3, headers: [("If-None-Match", tag)]).status == 304)
        }
    }

    @Test("A rollback to what is published, or to what never was, is refused")
    func refused() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            let path = "/v1/apps/suite-app/config/rollbacks"
            let same = try await scene.admin.call(
                "POST", path, ["revision": 1, "reason": "r"], headers: [("If-Match", "\"1\"")])
            #expect(same.status == 409)
            #expect(same["type"]?.text == "/problems/conflict")
            let none = try await scene.admin.call(
                "POST", path, ["revision": 5, "reason": "r"], headers: [("If-Match", "\"1\"")])
            #expect(none.status == 404)
            #expect(none["errors"]?.items?.first?["pointer"]?.text == "/revision")
            let blind = try await scene.admin.call("POST", path, ["revision": 1, "reason": "r"])
            #expect(blind.status == 428)
            let zero = try await scene.admin.call(
                "POST", path, ["revision": 0, "reason": "r"], headers: [("If-Match", "\"1\"")])
            #expect(zero.status == 400)
        }
    }

    @Test("Revisions are listed newest first, page by page")
    func pages() async throws {
        try await Scene.with { (scene) async throws in
            for number in 0..<5 { _ = try await scene.publish("{\"a\": \(number)}", over: number) }
            var seen: [Int64] = []
            var target = "/v1/apps/suite-app/config/revisions?limit=2"
            var pages = 0
            while pages < 10 {
                let page = try await scene.admin.get(target)
                pages += 1
                seen += page["items"]?.items?.compactMap { $0["revision"]?.integer } ?? []
                guard let next = page["next"]?.text else { break }
                target = "/v1/apps/suite-app/config/revisions?limit=2&after=\(next)"
            }
            #expect(seen == [5, 4, 3, 2, 1])
            #expect(pages == 3)
            let bad = try await scene.admin.get("/v1/apps/suite-app/config/revisions?after=!")
            #expect(bad.status == 400)
        }
    }

    @Test("What is no revision is not found", arguments: ["0", "2", "x", "01", "9223372036854775808"])
    func missing(number: String) async throws {
        try await Scene.shared { (scene) async throws in
            let answer = try await scene.admin.get("/v1/apps/suite-app/config/revisions/\(number)")
            #expect(answer.status == 404)
        }
    }
}
