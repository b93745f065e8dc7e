import EnfiladeClient
import Foundation

// The README's five minutes and a message, through the generated client.

func check(_ holds: Bool, _ words: String) throws {
    guard holds else { throw Wrong("not so: \(words)") }
    print("ok  \(words)")
}

func tag(_ header: [String: String]) -> String {
    header.first { $0.key.lowercased() == "etag" }?.value ?? ""
}

let environment = ProcessInfo.processInfo.environment
let server = environment["ENFILADE_URL"] ?? "http://127.0.0.1:8080"
let passwordFile = environment["ENFILADE_ADMIN_PASSWORD_FILE"] ?? ".enfilade/admin-password"
let adminPassword = try String(contentsOfFile: passwordFile, encoding: .utf8).trimmingCharacters(in: .newlines)
let suffix = UUID().uuidString.lowercased().prefix(8)
let app = "swift-\(suffix)"

let admin = try await signIn(
    server, app: "enfilade-cli", username: "admin", password: adminPassword, scope: "openid admin audit")
let began = Date()
let created = try await AppsAPI.createApp(
    newApp: NewApp(
        id: app, name: "Swift", kind: .app, redirectUris: [redirectURI],
        scopes: [.openid, .offlineAccess, .mailbox, .config]),
    apiConfiguration: admin)
try check(created.id == app && abs(created.createdAt.timeIntervalSince(began)) < 60, "an app is registered just now")

func createPerson(_ name: String) async throws -> Account {
    try await AccountsAPI.createAccount(
        newAccount: NewAccount(
            username: "\(name)-\(suffix)", displayName: name, password: "a long enough password"),
        apiConfiguration: admin)
}
let ada = try await createPerson("ada")
let ben = try await createPerson("ben")
do {
    _ = try await createPerson("ada")
    throw Wrong("the same name twice")
} catch ErrorResponse.error(let status, let data, _, _) {
    let problem = try JSONDecoder().decode(Problem.self, from: data ?? Data())
    try check(status == 409 && problem.type == "/problems/username-taken", "a name that is taken is a typed problem")
}

let before = try await ConfigurationAPI.getAppConfigurationWithRequestBuilder(app: app, apiConfiguration: admin)
    .execute()
let values = NewConfiguration(
    values: ["syncMinutes": .int(15), "models": .array([.string("small")])], reason: "the tour")
let dry = try await ConfigurationAPI.publishConfiguration(
    app: app, newConfiguration: values, ifMatch: tag(before.header), validateOnly: true, apiConfiguration: admin)
let real = try await ConfigurationAPI.publishConfiguration(
    app: app, newConfiguration: values, ifMatch: tag(before.header), apiConfiguration: admin)
try check(dry.validateOnly && dry.changes == real.changes && real.revision == 1, "a dry run shows what publishing does")

struct Person {
    let keys = Keys()
    let calls: EnfiladeClientAPIConfiguration
    let device: Device

    init(_ account: Account) async throws {
        calls = try await signIn(
            server, app: app, username: account.username, password: "a long enough password",
            scope: "openid mailbox config")
        let session = try await SessionsAPI.getCurrentSession(apiConfiguration: calls)
        let issuer = try await LoginAPI.getOpenIDConfiguration(apiConfiguration: calls).issuer
        device = try await DevicesAPI.enrolDevice(
            enrolment: Enrolment(
                name: "Tour", platform: .linux, identityKey: keys.identity, agreementKey: keys.agreement,
                signature: keys.proof(issuer: issuer, account: session.account.id, session: session.sid)),
            apiConfiguration: calls)
    }
}
let sender = try await Person(ada)
let receiver = try await Person(ben)
try check(receiver.device.current && receiver.device.identityKey == receiver.keys.identity, "two devices are enrolled")

let held = try await ConfigurationAPI.getConfiguration(apiConfiguration: receiver.calls)
try check(held.values == values.values, "the app on the device reads its configuration")
try await ConfigurationAPI.reportConfiguration(
    newConfigurationReport: NewConfigurationReport(revision: held.revision, state: .applied),
    apiConfiguration: receiver.calls)

let found = try await AccountsAPI.findAccount(username: ben.username, apiConfiguration: sender.calls)
let devices = try await DevicesAPI.getAccountDevices(account: found.accountId, apiConfiguration: sender.calls)
let envelopes = devices.devices.map {
    Envelope(deviceId: $0.id, keyVersion: $0.keyVersion, ciphertext: Keys.seal("hello", for: $0.agreementKey))
}
let message = NewMessage(
    id: UUID(), recipients: [Recipient(accountId: ben.id, deviceListVersion: devices.version, envelopes: envelopes)])
let accepted = try await MessagesAPI.sendMessage(newMessage: message, apiConfiguration: sender.calls)
let page = try await MessagesAPI.readMailbox(apiConfiguration: receiver.calls)
try check(
    accepted.accepted == [receiver.device.id] && page.items.first?.id == message.id
        && page.items.first?.ciphertext.flatMap(receiver.keys.open) == "hello", "a message arrives and opens")
let acked = try await MessagesAPI.acknowledgeMailbox(
    acknowledgement: Acknowledgement(through: page.head), apiConfiguration: receiver.calls)
try check(acked.acked == page.head, "it is acknowledged")

// An act is listed within a second or so; asked for again from `next` until it is.
var after: String?
var entries: [AuditEntry] = []
while entries.isEmpty, Date().timeIntervalSince(began) < 60 {
    let log = try await AuditAPI.listAuditEntries(
        after: after, action: "configuration.published", target: app, from: began.addingTimeInterval(-60),
        apiConfiguration: admin)
    (after, entries) = (log.next, log.items)
    if entries.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
}
try check(entries.first?.reason == "the tour" && entries.first?.after != nil, "the audit log tells who published what")
