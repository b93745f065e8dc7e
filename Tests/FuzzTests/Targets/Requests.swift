import API
import Domain
import HTTP
import Wire

@testable import Accounts
@testable import Audit
@testable import Configuration
@testable import Devices
@testable import Mailboxes
@testable import Store
@testable import Updates

extension FuzzTarget {
    static let requests = [
        FuzzTarget("cursors", longest: 600) { bytes in
            let text = bytes.anyText
            if let cursor = MailboxCursor(text) {
                expect(same(cursor.text, text), "a mailbox's cursor has one spelling")
            }
            if let cursor = Cursor(text) {
                expect(Cursor(cursor.text) == cursor, "the log's cursor is read again")
                expect(cursor.start >= 0, "and is no place before the log")
            }
            if let position = MailboxPosition(bytes: bytes) {
                expect(position.bytes == bytes, "a position has one spelling")
            }
            if let mark = Mark(bytes) { expect(mark.position == bytes, "a configuration's mark has one spelling") }
            if let key = AppID(position: bytes) { expect(key.position == bytes, "an app's key has one spelling") }
            if let key = AccountID(position: bytes) {
                expect(key.position == bytes, "an account's key has one spelling")
            }
            if let bell = Doorbell(line: text[...]) {
                expect(Doorbell(line: bell.line[...]) == bell, "a bell is heard again")
            }
        },
        FuzzTarget("stream-cursor", longest: 400) { bytes in
            // The device and the app are ours, so that what follows them is read.
            var writer = ByteWriter()
            writer.byte(1)
            writer.uuid(device.uuid)
            writer.bytes(Array("chat".utf8))
            writer.raw(bytes)
            for text in [Base64URL.encode(writer.finish()), bytes.anyText] {
                guard let cursor = try? StreamCursor(text, of: listener) else { continue }
                expect(cursor.device == device, "no other device's cursor is taken")
                expect(
                    (try? StreamCursor(cursor.text, of: listener)) == cursor, "a cursor that is written is read again")
            }
        },
        FuzzTarget("audit-filter", longest: 512) { bytes in
            let names = ["limit", "after", "actor", "action", "target", "outcome", "from", "to"]
            guard let asked = FormCoding.decode(bytes), asked.allSatisfy({ names.contains($0.name) }) else { return }
            let query = request(query: asked)
            let read = try? query.parameters("limit", "after", "actor", "action", "target", "outcome", "from", "to")
            guard let parameters = read else { return }
            _ = try? parameters.limit()
            guard let filter = try? Filter(parameters) else { return }
            let members = filter.facts?.fields?.count ?? 0
            expect(members <= 6, "a question has no more parts than there are")
            expect((try? JSON.parse(filter.facts?.encoded() ?? Array("null".utf8))) != nil, "a question can be kept")
            if case .beginning(let name)? = filter.action {
                expect(name.last == ".", "a beginning ends at a dot")
                expect(filter.action?.names.allSatisfy { $0.hasPrefix(name) } == true, "and means what begins so")
            }
        },
        body("message") { request in
            let now = Instant(microseconds: 0)
            let limits = Mailboxes.Limits()
            let read = try? request.parse { Draft(&$0, from: caller, device, within: limits, at: now) }
            guard let draft = read else { return }
            expect((1...256).contains(draft.itemCount), "a message has envelopes, and not too many")
            expect(draft.byteCount <= request.body.count, "ciphertexts are no longer than the body")
            expect(draft.digest.count == 32, "a message has a digest")
            expect(Set(draft.recipients.map(\.account)).count == draft.recipients.count, "nobody is listed twice")
            hasNoOther(request, ["id", "conversationId", "urgent", "expiresAt", "recipients"])
        },
        body("enrolment") { request in
            guard let enrolment = try? request.parse({ Enrolment(&$0) }) else { return }
            expect(enrolment.identityKey.count == 32 && enrolment.signature.count == 64, "keys have their sizes")
            _ = enrolment.flaw(issuer: "https://id.example", account: caller.account, session: caller.session)
            let known = [
                "name", "platform", "model", "osVersion", "appVersion", "identityKey", "agreementKey", "signature",
            ]
            hasNoOther(request, known)
        },
        body("account") { request in
            if let new = try? request.parse({ NewAccount(&$0) }) {
                expect(Username(new.username.text) != nil, "a name is a name")
                hasNoOther(request, ["username", "displayName", "role", "password"])
            }
            _ = try? request.parse { AccountChange(&$0) }
            _ = try? request.parse { DeviceChange(&$0) }
        },
        body("app") { request in
            guard let app = try? request.parse({ AppRegistration(&$0) }) else { return }
            expect(app.redirectURIs.allSatisfy(WebAddress.isRedirect), "every address is one that was checked")
            expect(app.universalLinks.allSatisfy(WebAddress.isUniversalLink), "every link too")
            let known = [
                "name", "kind", "parent", "teamId", "bundleId", "redirectUris", "scopes", "sharingGroup",
                "universalLinks",
                "urlScheme",
            ]
            hasNoOther(request, known)
        },
        body("report") { request in
            guard let report = try? request.parse(ReportConfiguration.read) else { return }
            _ = report
            hasNoOther(request, ["revision", "state", "reasons"])
        },
        FuzzTarget("configuration", longest: 1024) { bytes in
            let parts = bytes.split(separator: 0, maxSplits: 1).map { Array($0) }
            let states = parts.compactMap { try? Values((try JSON.parse($0)).fields ?? [:], limit: 4096) }
            guard states.count == 2 else { return }
            let (old, new) = (states[0].object, states[1].object)
            let data = Patch.data(from: 1, old, to: 2, new)
            guard let patch = try? JSON.parse(data) else { return expect(false, "a step is JSON") }
            guard patch["fetch"] == nil else { return }
            var walked = old
            for member in patch["set"]?.fields ?? [:] { walked[member.key] = member.value }
            for key in patch["unset"]?.items ?? [] { walked[key.text ?? ""] = nil }
            expect(walked == new, "a step leads from what a device holds to what is published")
        },
    ]

    private static let device = DeviceID(UUID(high: 1, low: 2))
    private static let caller = Caller(
        account: AccountID(UUID(high: 9, low: 9)), role: .member, app: AppID(stored: "chat"),
        session: SessionID(UUID(high: 7, low: 7)), scopes: [.mailbox], expiresAt: Instant(microseconds: 0),
        device: device, requestID: "r")
    private static let listener = API.Listener(caller: caller, device: device)

    private static func body(_ name: String, _ look: @escaping @Sendable (Request) -> Void) -> FuzzTarget {
        FuzzTarget(name, longest: 2048) { bytes in
            let head = RequestHead(method: .post, rawPath: "/", peer: Address(bytes: [127, 0, 0, 1], port: 1))
            look(Request(head: head, body: bytes))
        }
    }

    private static func request(query: [(name: String, value: String)]) -> Request {
        Request(
            head: RequestHead(method: .get, rawPath: "/", query: query, peer: Address(bytes: [127, 0, 0, 1], port: 1)))
    }

    /// A field that nobody reads must be refused, however it is spelt.
    private static func hasNoOther(_ request: Request, _ known: [String]) {
        let keys = (try? JSON.parse(request.body))?.fields?.keys ?? []
        expect(keys.allSatisfy { key in known.contains { same($0, key) } }, "no unknown field is taken")
    }
}
