import API
import Crypto
import Domain
import Postgres
import Store
import Synchronization
import TestKit
import Wire

@testable import Mailboxes

/// A migrated database with accounts and devices in it, and one node's mailboxes on top.
final class Post: Sendable {
    static let mail = AppID(stored: "mail")

    final class Time: Clock {
        private let current = Mutex(Instant(rfc3339: "2026-11-30T12:00:00Z") ?? Instant(microseconds: 0))

        func now() -> Instant { current.withLock { $0 } }
        func advance(by duration: Duration) { current.withLock { $0 = $0 + duration } }
    }

    struct Mate: Sendable {
        let account: AccountID
        let device: DeviceID
    }

    let name: String
    let time: Time
    let database: Database
    let mailboxes: Mailboxes
    let committer: Committer
    private let rung: Mutex<[Doorbell]>
    private let pool: Pool

    private init(name: String, time: Time, limits: Mailboxes.Limits) throws {
        self.name = name
        self.time = time
        let conninfo = try PostgresCluster.shared.conninfo(database: name)
        pool = Pool(Pool.Settings(conninfo: conninfo))
        let bell = Bell(conninfo: conninfo, node: UUID(high: 0, low: 0), observe: { _ in })
        database = Database(pool: pool, bell: bell, clock: time, entropy: SystemEntropy())
        mailboxes = Mailboxes(database: database, limits: limits, observe: { _ in })
        committer = mailboxes.committer
        rung = Mutex([])
        bell.listen { [weak self] doorbell, _ in self?.rung.withLock { $0.append(doorbell) } }
        pool.start()
    }

    /// Runs a test on a database of its own with as many nodes as it asks for; a deadlock among them fails it.
    static func open<R: Sendable>(
        nodes count: Int = 1, limits: Mailboxes.Limits = Mailboxes.Limits(), _ body: ([Post]) async throws -> R
    ) async throws -> R {
        let name = try await PostgresCluster.shared.createDatabase()
        try await migrate(name)
        let time = Time()
        let posts = try (0..<count).map { _ in try Post(name: name, time: time, limits: limits) }
        let services = posts.map { post in Task { await post.committer.run() } }
        let result: Result<R, any Error>
        do {
            result = .success(try await body(posts))
        } catch {
            result = .failure(error)
        }
        for service in services {
            service.cancel()
            await service.value
        }
        for post in posts { await post.pool.stop() }
        let deadlocks = try await deadlocks(in: name)
        try await PostgresCluster.shared.dropDatabase(name)
        if deadlocks != 0 { throw Deadlocks(count: deadlocks) }
        return try result.get()
    }

    struct Deadlocks: Error { let count: Int }

    /// A backend counts its deadlocks when it ends, so all of them must have ended first.
    private static func deadlocks(in name: String) async throws -> Int {
        func number(_ sql: String) async throws -> Int {
            Int(try await PostgresCluster.shared.psql(sql).filter(\.isNumber)) ?? -1
        }
        try await until("every backend has ended") {
            try await number("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'") == 0
        }
        return try await number("SELECT deadlocks FROM pg_stat_database WHERE datname = '\(name)'")
    }

    private static func migrate(_ name: String) async throws {
        let owner = Pool(Pool.Settings(conninfo: try PostgresCluster.shared.conninfo(database: name, role: .owner)))
        owner.start()
        _ = try await Migrator(pool: owner).migrate(observe: { _ in })
        await owner.stop()
        try await PostgresCluster.shared.psql(
            """
            INSERT INTO app (id, name, kind, parent, redirect_uris, scopes, created_at, updated_at)
            VALUES ('mail', 'Mail', 'app', NULL, '{}', '{}', now(), now()),
                   ('share', 'Share', 'extension', 'mail', '{}', '{}', now(), now())
            """, database: name)
    }

    /// Makes an account with devices that hold `mail`.
    func account(devices count: Int = 1) async throws -> [Mate] {
        let entropy = SystemEntropy()
        let account: AccountID = entropy.id(at: time.now())
        let devices = (0..<count).map { _ in entropy.id(at: time.now()) as DeviceID }
        try await database.transaction { (tx) throws(Failure) in
            try tx.execute(
                """
                INSERT INTO account (id, username, display_name, role, created_at, updated_at)
                VALUES (\(account), \("u" + account.description), 'U', 'member', \(tx.now), \(tx.now))
                """)
            try tx.createDeviceList(of: account)
            for device in devices {
                try tx.execute(
                    """
                    INSERT INTO device (id, account_id, name, platform, identity_key, agreement_key, enrolled_at, updated_at)
                    VALUES (\(device), \(account), 'd', 'iOS', \(entropy.bytes(32)), \(entropy.bytes(32)), \(tx.now), \(tx.now))
                    """)
                _ = try tx.openMailbox(of: account, on: device, for: Self.mail)
            }
        }
        return devices.map { Mate(account: account, device: $0) }
    }

    func draft(
        from sender: Mate, to mates: [Mate], id: MessageID? = nil, text: String = "hello", expiresIn: Duration? = nil
    ) -> Draft {
        let accounts = Dictionary(grouping: mates, by: \.account)
        let now = time.now()
        return Draft(
            id: id ?? SystemEntropy().id(at: now), account: sender.account, device: sender.device, app: Self.mail,
            expiresAt: expiresIn.map { now + $0 },
            recipients: accounts.map { account, mates in
                Draft.Recipient(
                    account: account,
                    envelopes: mates.map {
                        Draft.Envelope(device: $0.device, keyVersion: 1, ciphertext: Array(text.utf8))
                    })
            })
    }

    @discardableResult
    func send(
        from sender: Mate, to mates: [Mate], id: MessageID? = nil, text: String = "hello", expiresIn: Duration? = nil
    ) async throws(Failure) -> Receipt {
        try await committer.send(draft(from: sender, to: mates, id: id, text: text, expiresIn: expiresIn))
    }

    func page(
        of mate: Mate, in app: AppID = Post.mail, after: Int64? = nil, epoch: Int64? = nil, limit: Int = 50,
        bytes: Int = 1 << 20
    ) async throws(Failure) -> MailboxPage? {
        let asked = PageRequest(after: after, epoch: epoch, limit: limit, bytes: bytes)
        return try await database.read { (tx) throws(Failure) in try tx.mailboxPage(of: mate.device, in: app, asked) }
    }

    /// What is acknowledged afterwards; `nil` when this app may not.
    func acknowledge(_ through: Int64, by mate: Mate, in app: AppID = Post.mail) async throws(Failure) -> Int64? {
        try await database.transaction { (tx) throws(Failure) in
            try tx.acknowledge(through, on: mate.device, for: app)
        }
    }

    /// How often the bell of a mailbox rang on this node.
    func bells(of mailbox: MailboxID) -> Int { rung.withLock { $0.filter { $0 == .mailbox(mailbox) }.count } }

    func rows(_ table: SQL) async throws(Failure) -> Int {
        try await database.read { (tx) throws(Failure) in
            try tx.first("SELECT count(*) FROM " + table) { row throws(PostgresError) in try row[0] as Int } ?? 0
        }
    }

    func execute(_ sql: SQL) async throws(Failure) {
        try await database.transaction { (tx) throws(Failure) in _ = try tx.execute(sql) }
    }
}

extension Post {
    func listener(_ mate: Mate) -> API.Listener {
        let caller = Caller(
            account: mate.account, role: .member, app: Post.mail, session: SessionID(UUID(high: 1, low: 1)),
            scopes: [.mailbox], expiresAt: time.now() + .seconds(600), device: mate.device, requestID: "r")
        return API.Listener(caller: caller, device: mate.device)
    }
}
