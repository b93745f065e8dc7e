import TestKit
import Testing
import Wire

/// Reports of devices, and the event stream.
@Suite struct ReportTests {
    @Test("The latest report of a device is listed, and each new one is in the audit log")
    func report() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            let device = try await scene.device.enrol()
            let reasons: JSON = [["key": "a", "code": "out-of-range", "detail": "Must be 2."]]
            let rejected: JSON = ["revision": 1, "state": "rejected", "reasons": reasons]
            #expect(try await scene.device.call("POST", "/v1/config/reports", rejected).status == 204)
            #expect(try await scene.device.call("POST", "/v1/config/reports", rejected).status == 204)
            let list = try await scene.admin.get("/v1/apps/suite-app/config/reports")
            let item = try #require(list["items"]?.items?.first)
            #expect(item["deviceId"]?.text == device.id.description)
            #expect(item["state"]?.text == "rejected")
            #expect(item["reasons"] == reasons)
            let applied: JSON = ["revision": 1, "state": "applied"]
            #expect(try await scene.device.call("POST", "/v1/config/reports", applied).status == 204)
            let after = try await scene.admin.get("/v1/apps/suite-app/config/reports?state=applied&revision=1")
            #expect(after["items"]?.items?.count == 1)
            #expect(after["items"]?.items?.first?["reasons"] == nil)
            let none = try await scene.admin.get("/v1/apps/suite-app/config/reports?state=rejected")
            #expect(none["items"]?.items == [])
            let acts = try await PostgresCluster.shared.psql(
                "SELECT count(*) FROM audit_entry WHERE action = 'configuration.reported'",
                database: scene.server.database)
            #expect(acts.split(separator: "\n").first == "2")
        }
    }

    @Test(
        "A report that cannot be is refused and named",
        arguments: [
            (#"{"revision": 7, "state": "applied"}"#, "/revision"),
            (#"{"revision": -1, "state": "applied"}"#, "/revision"),
            (#"{"revision": 0, "state": "maybe"}"#, "/state"),
            (#"{"revision": 0}"#, "/state"),
            (#"{"revision": 0, "state": "applied", "reasons": [{"key": "a", "code": "c", "detail": ""}]}"#, "/reasons"),
            (
                #"{"revision": 0, "state": "rejected", "reasons": [{"key": "a", "code": "c d", "detail": ""}]}"#,
                "/reasons/0/code"
            ),
        ])
    func refused(body: String, pointer: String) async throws {
        try await Scene.shared { (scene) async throws in
            let enrolled = try await scene.enrolled()
            let answer = try await enrolled.owner.call(
                "POST", "/v1/config/reports", try JSON.parse(Array(body.utf8)))
            #expect(answer.status == 400)
            #expect(answer["errors"]?.items?.compactMap { $0["pointer"]?.text } == [pointer])
        }
    }

    @Test("Without a device there is nothing to report on")
    func noDevice() async throws {
        try await Scene.with { (scene) async throws in
            let answer = try await scene.device.call("POST", "/v1/config/reports", ["revision": 0, "state": "applied"])
            #expect(answer.status == 403)
        }
    }

    @Test("A stream gets one step from what the device applied to what is published, then what happens")
    func stream() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.device.enrol()
            _ = try await scene.publish(#"{"a": 1, "b": 1}"#, over: 0)
            let applied: JSON = ["revision": 1, "state": "applied"]
            #expect(try await scene.device.call("POST", "/v1/config/reports", applied).status == 204)
            _ = try await scene.publish(#"{"a": 2, "b": 1}"#, over: 1)
            _ = try await scene.publish(#"{"a": 2, "c": 1}"#, over: 2)
            let events = try await EventReader.open(scene.device)
            let first = try await events.next("config")
            #expect(
                try JSON.parse(Array(first.data)) == [
                    "from": 1, "revision": 3, "set": ["a": 2, "c": 1], "unset": ["b"],
                ])
            let ready = try await events.next("ready")
            #expect(try JSON.parse(Array(ready.data))["revision"]?.integer == 3)
            _ = try await scene.publish(#"{"a": 3, "c": 1}"#, over: 3)
            let live = try await events.next("config")
            #expect(try JSON.parse(Array(live.data)) == ["from": 3, "revision": 4, "set": ["a": 3]])
            events.close()
            _ = try await scene.publish(#"{"a": 3}"#, over: 4)
            let resumed = try await EventReader.open(scene.device, after: live.lastEventID)
            let missed = try await resumed.next("config")
            #expect(try JSON.parse(Array(missed.data)) == ["from": 4, "revision": 5, "unset": ["c"]])
            resumed.close()
        }
    }

    @Test("The report of a removed device is not listed")
    func removed() async throws {
        try await Scene.with { (scene) async throws in
            let device = try await scene.device.enrol()
            let applied: JSON = ["revision": 0, "state": "applied"]
            #expect(try await scene.device.call("POST", "/v1/config/reports", applied).status == 204)
            let path = "/v1/apps/suite-app/config/reports"
            #expect(try await scene.admin.get(path)["items"]?.items?.count == 1)
            #expect(try await scene.admin.call("DELETE", "/v1/devices/\(device.id)").status == 204)
            #expect(try await scene.admin.get(path)["items"]?.items == [])
        }
    }

    @Test("When the past was replaced by another one with the same numbers, an open stream is told to read it all")
    func replacedPast() async throws {
        try await Scene.with { (scene) async throws in
            _ = try await scene.device.enrol()
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            let events = try await EventReader.open(scene.device)
            let first = try await events.next("config")
            #expect(try JSON.parse(Array(first.data)) == ["from": 0, "revision": 1, "set": ["a": 1]])
            let tag = try #require(try await scene.device.get("/v1/config").header("ETag"))
            try await PostgresCluster.shared.psql(
                "UPDATE configuration_revision SET content = '{\"b\":1}', created_at = created_at + interval '1 hour'",
                database: scene.server.database)
            let again = try await events.next("config")
            #expect(try JSON.parse(Array(again.data)) == ["from": 1, "revision": 1, "fetch": true])
            events.close()
            let read = try await scene.device.get("/v1/config", headers: [("If-None-Match", tag)])
            #expect(read.status == 200)
            #expect(read["values"] == ["b": 1])
        }
    }

    @Test("A node hears of what another one published when the asker knows of it")
    func otherNode() async throws {
        try await Scene.with { (scene) async throws in
            let second = try await TestServer.start(on: scene.server.database)
            let bearer = [("Authorization", "Bearer \(scene.device.accessToken)")]
            #expect(try await second.client.send("GET", "/v1/config", headers: bearer)["revision"]?.integer == 0)
            _ = try await scene.publish(#"{"a": 1}"#, over: 0)
            let read = try await second.client.send("GET", "/v1/config?minRevision=1", headers: bearer)
            #expect(read["revision"]?.integer == 1)
            let ahead = try await second.client.send("GET", "/v1/config?minRevision=99", headers: bearer)
            #expect(ahead.status == 200)
            #expect(ahead["revision"]?.integer == 1)
            #expect(try await second.client.send("GET", "/v1/config?minRevision=-1", headers: bearer).status == 400)
            await second.stop()
        }
    }
}
