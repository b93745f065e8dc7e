import Crypto
import TestKit
import Testing
import Wire

/// Devices and sessions, from the first to the last.
@Suite struct LifecycleTests {
    @Test("Enrolling a key again gives the same device to another session, and the list of devices stays as it was")
    func enrolledAgain() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let device = cast.member
            let list = try await cast.other.owner.get("/v1/accounts/\(device.owner.account)/devices")
            let again = try await server.member("ada")
            #expect(try await again.get("/v1/session")["device"] == nil)
            #expect(try await again.get("/v1/mailbox").status == 403)
            let answer = try await again.call("POST", "/v1/devices", device.enrolment(for: again))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["id"]?.text == device.id.description)
            #expect(answer["keyVersion"]?.integer == 1)
            #expect(answer["current"]?.flag == true)
            #expect(try await again.get("/v1/session")["device"]?["id"]?.text == device.id.description)
            #expect(try await again.get("/v1/mailbox").status == 200)
            #expect(try await again.get("/v1/devices")["items"]?.items?.count == 1)
            let after = try await cast.other.owner.get("/v1/accounts/\(device.owner.account)/devices")
            #expect(after.header("ETag") == list.header("ETag"))
            #expect(after.json == list.json)
        }
    }

    @Test("A new agreement key is a new version of the device's keys and of the list; a new name is neither")
    func newKey() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let target = "/v1/accounts/\(cast.member.owner.account)/devices"
            let before = try await cast.other.owner.get(target)
            let renamed = try await cast.member.owner.call("PATCH", "/v1/devices/\(cast.member.id)", ["name": "Old"])
            #expect(renamed["name"]?.text == "Old")
            #expect(try await cast.other.owner.get(target).json == before.json)
            let body = cast.member.enrolment(for: cast.member.owner, agreementKey: cast.other.agreementKey)
            let changed = try await cast.member.owner.call("POST", "/v1/devices", body)
            #expect(changed.status == 200)
            #expect(changed["id"]?.text == cast.member.id.description)
            #expect(changed["keyVersion"]?.integer == 2)
            let after = try await cast.other.owner.get(target)
            #expect(after["version"]?.integer == before["version"]?.integer.map { $0 + 1 })
            #expect(after.header("ETag") != before.header("ETag"))
            let stale = try await cast.other.send("x", to: cast.member)
            #expect(stale.status == 409)
            #expect(
                stale["accounts"]?.items?.first?["staleDevices"]?.items?.map(\.text) == [cast.member.id.description])
        }
    }

    @Test("A key belongs to one account, and a session to one device")
    func keyTaken() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let bob = try await server.member("bob")
            let before = try await Snapshot.of(server)
            let stolen = try await bob.call("POST", "/v1/devices", cast.member.enrolment(for: bob))
            #expect(stolen.status == 409)
            #expect(stolen.problem == "/problems/device-key-taken")
            #expect(!stolen.text.contains(cast.member.id.description))
            let second = try await cast.member.owner.enrol(.generate(), cast.other.agreementKey)
            #expect(second.status == 409)
            #expect(second.problem == "/problems/conflict")
            #expect(try await Snapshot.of(server).changes(since: before) == ["audit_entry"])
            #expect(try await bob.get("/v1/session")["device"] == nil)
        }
    }

    @Test(
        "Removing a device ends its sessions, their tokens and streams, and takes its mailbox; nothing brings it back")
    func removal() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let again = try await server.member("ada")
            #expect(try await again.call("POST", "/v1/devices", cast.member.enrolment(for: again)).status == 200)
            #expect(try await cast.other.send("x", to: cast.member).status == 201)
            let streams = [try await EventReader.open(cast.member.owner), try await EventReader.open(again)]
            for stream in streams { _ = try await stream.next("ready") }
            let desk = try await server.member("ada").enrol(name: "Mac", platform: "macOS")
            #expect(try await desk.owner.call("DELETE", "/v1/devices/\(cast.member.id)").status == 204)
            for stream in streams {
                #expect(try await stream.next("session").text == #"{"state":"ended"}"#)
                await #expect(throws: EventReader.Ended.self) { try await stream.next() }
            }
            for session in [cast.member.owner, again] {
                #expect(try await session.get("/v1/session").problem == "/problems/session-ended")
                #expect(try await session.refresh().status == 400)
            }
            try await expectGone(cast.member, for: desk, cast)
        }
    }

    private func expectGone(_ device: EnrolledDevice, for desk: EnrolledDevice, _ cast: Cast) async throws {
        let server = cast.server
        let target = "/v1/devices/\(device.id)"
        #expect(try await desk.owner.get(target).status == 404)
        #expect(try await desk.owner.call("DELETE", target).status == 404)
        #expect(try await desk.owner.call("PATCH", target, ["name": "X"]).status == 404)
        #expect(try await cast.admin.owner.get(target).status == 404)
        let mine = try await desk.owner.get("/v1/devices")["items"]?.items ?? []
        #expect(mine.map { $0["id"]?.text } == [desk.id.description])
        let listed = try await cast.other.owner.get("/v1/accounts/\(device.owner.account)/devices")
        #expect(listed["devices"]?.items?.map { $0["id"]?.text } == [desk.id.description])
        #expect(try await cast.other.send("x", to: device).status == 409)
        #expect(try await server.sql("SELECT count(*) FROM mailbox WHERE device_id = '\(device.id)'") == "0\n")
        #expect(try await server.sql("SELECT count(*) FROM mailbox_item") == "0\n")
        for name in ["ada", "bob"] {
            let session = try await server.member(name)
            let answer = try await session.call("POST", "/v1/devices", device.enrolment(for: session))
            #expect(answer.status == 409)
            #expect(answer.problem == "/problems/device-key-taken")
        }
    }

    @Test(
        "Sessions of several apps share a device, each app with a mailbox of its own; an extension reads its parent's")
    func apps() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let admin = cast.admin.owner
            try await server.makeApp("tasks", by: admin)
            try await server.makeApp("notes-share", scopes: ["openid", "mailbox.read"], parent: Cast.app, by: admin)
            let tasks = try await server.signIn("ada", app: "tasks")
            let share = try await server.signIn(
                "ada", password: "ada-password", app: "notes-share", scope: "openid mailbox.read")
            for session in [tasks, share] {
                let answer = try await session.call("POST", "/v1/devices", cast.member.enrolment(for: session))
                #expect(answer.status == 200, "\(answer.text)")
            }
            let sent = try await cast.other.send("for notes", to: cast.member)
            #expect(sent.status == 201)
            #expect(try await tasks.get("/v1/mailbox")["head"]?.integer == 0)
            let shared = try await share.get("/v1/mailbox")
            #expect(shared["items"]?.items?.first?["id"]?.text == sent["id"]?.text)
            #expect(try await share.call("POST", "/v1/mailbox/acks", ["through": 1]).status == 403)
            let noDevice = try await share.call("DELETE", "/v1/devices/\(cast.member.id)")
            #expect(noDevice.status == 403)
            #expect(try await tasks.call("DELETE", "/v1/devices/\(cast.member.id)").status == 204)
            for session in [tasks, share, cast.member.owner] {
                #expect(try await session.get("/v1/session").problem == "/problems/session-ended")
            }
        }
    }

    @Test("An extension removes and renames no device and ends no session but its own, whatever its scopes")
    func narrowExtension() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let scopes = ["openid", "mailbox.read", "config"]
            try await server.makeApp("notes-share", scopes: scopes, parent: Cast.app, by: cast.admin.owner)
            let share = try await server.signIn(
                "ada", password: "ada-password", app: "notes-share", scope: scopes.joined(separator: " "))
            let enrolled = try await share.call("POST", "/v1/devices", cast.member.enrolment(for: share))
            #expect(enrolled.status == 200, "\(enrolled.text)")
            let device = "/v1/devices/\(cast.member.id)"
            #expect(try await share.call("DELETE", device).status == 403)
            #expect(try await share.call("PATCH", device, ["name": "Mine"]).status == 403)
            #expect(try await share.call("DELETE", "/v1/sessions/\(cast.member.owner.session)").status == 403)
            #expect(try await cast.member.owner.get("/v1/session").status == 200)
            #expect(try await share.call("DELETE", "/v1/sessions/\(share.session)").status == 204)
        }
    }

    @Test("A session that ends, by whomever, ends its stream and its refresh token, and no other session's")
    func endings() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let other = try await server.member("ada")
            let ways: [(EnrolledDevice) async throws -> Client.Answer] = [
                { try await $0.owner.call("DELETE", "/v1/sessions/\($0.owner.session)") },
                { try await cast.admin.owner.call("DELETE", "/v1/sessions/\($0.owner.session)") },
                { try await other.call("DELETE", "/v1/sessions/\($0.owner.session)") },
                { device in
                    let form = FormCoding.encode([("token", device.owner.accessToken), ("client_id", Cast.app)])
                    return try await server.client.post(form: form, to: "/oauth2/revoke")
                },
            ]
            for end in ways {
                let device = try await server.member("ada").enrol()
                let stream = try await EventReader.open(device.owner)
                _ = try await stream.next("ready")
                #expect(try await end(device).status / 100 == 2)
                #expect(try await stream.next("session").text == #"{"state":"ended"}"#)
                await #expect(throws: EventReader.Ended.self) { try await stream.next() }
                #expect(try await device.owner.get("/v1/session").problem == "/problems/session-ended")
                #expect(try await device.owner.refresh().status == 400)
            }
            #expect(try await other.get("/v1/session").status == 200)
            #expect(try await cast.member.owner.get("/v1/session").status == 200)
        }
    }

    @Test("Disabling an account, another password and another role end its sessions; the last administrator stays")
    func accounts() async throws {
        try await TestServer.with { server in
            let admin = try await server.signInAdmin()
            let changes: [JSON] = [["disabled": true], ["password": "quite another"], ["role": "auditor"]]
            for change in changes {
                let name = freshName()
                let id = try await server.makePerson(name, by: admin)
                let person = try await server.signIn(name, app: "enfilade-cli")
                let device = try await person.enrol()
                let stream = try await EventReader.open(device.owner)
                _ = try await stream.next("ready")
                let answer = try await admin.call(
                    "PATCH", "/v1/accounts/\(id)", change, headers: [("If-Match", "\"1\"")])
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await stream.next("session").text == #"{"state":"ended"}"#)
                #expect(try await person.get("/v1/session").problem == "/problems/session-ended")
                #expect(try await person.refresh().status == 400)
                #expect(
                    try await server.sql(
                        "SELECT count(*) FROM refresh_token r JOIN session s ON s.id = r.session_id WHERE s.account_id = '\(id)'"
                    ) == "0\n")
            }
            for change in [["disabled": true], ["role": "member"]] as [JSON] {
                let answer = try await admin.call(
                    "PATCH", "/v1/accounts/\(admin.account)", change, headers: [("If-Match", "*")])
                #expect(answer.status == 409, "\(answer.text)")
            }
            #expect(try await admin.get("/v1/session").status == 200)
        }
    }

    @Test("A device that many sessions enrol at once is made once")
    func race() async throws {
        try await TestServer.with { server in
            let agreementKey = try await Cast.gather(on: server).recipient.agreementKey
            let identity = SigningKey.generate()
            var sessions: [SignedIn] = []
            for _ in 0..<6 { sessions.append(try await server.member("ada")) }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for session in sessions {
                    group.addTask {
                        try await session.call("POST", "/v1/devices", session.enrolment(of: identity, agreementKey))
                            .status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 200, 200, 200, 200, 201])
        }
    }
}

extension SignedIn {
    /// Asks for new tokens with the refresh token.
    func refresh() async throws -> Client.Answer {
        let form = FormCoding.encode([
            ("grant_type", "refresh_token"), ("refresh_token", refreshToken ?? ""), ("client_id", app),
        ])
        return try await client.post(form: form, to: "/oauth2/token")
    }
}
