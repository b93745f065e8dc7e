import API
import Crypto
import Domain
import HTTP
import Postgres
import Store
import Wire

/// Answers the sign-in page: a code for the app when name and password are right, the page again when they are not.
///
/// An unknown name, a disabled account and an account without a password are told from a wrong password neither by words
/// nor by time.
struct SignIn: OpenEndpoint {
    static let route = Route.form("/oauth2/authorize", produces: "text/html")
    private let parts: Parts
    private let passwords: Passwords
    private let throttle: SignInThrottle
    private let sameSite: SameSite
    private let successes: RateLimit<AccountID>

    init(parts: Parts, passwords: Passwords, proxies: TrustedProxies) {
        self.parts = parts
        self.passwords = passwords
        throttle = SignInThrottle(hash: parts.secrets.throttle, proxies: proxies, settings: parts.settings)
        sameSite = SameSite(issuer: parts.issuer)
        successes = RateLimit(parts.settings.signIns)
    }

    func respond(to request: Request) async throws(Failure) -> Response {
        if let standing = parts.excess(of: request.head) { return SignInPage.tooMany(standing) }
        guard sameSite.allows(request.head) else {
            return SignInPage.refusal(403, "The form was sent by another site. Go back to the app and start again.")
        }
        guard let form = try? OAuthParameters(form: request.body), let ticket = form["request"],
            let asked = SignInTicket.open(ticket, at: parts.database.clock.now(), by: parts.secrets.tickets)
        else {
            return SignInPage.refusal(400, "This page was open for too long. Go back to the app and start again.")
        }
        let attempt = Attempt(
            asked: asked, ticket: ticket, username: Self.username(form["username"] ?? ""),
            password: form["password"] ?? "", head: request.head)
        return try await parts.whileAway(SignInPage.away, to: request.head) { () async throws(Failure) -> Response in
            try await answer(attempt)
        }
    }

    private func answer(_ attempt: Attempt) async throws(Failure) -> Response {
        guard passwords.hasRoom else { throw .busy(.passwords) }
        let subjects = throttle.subjects(of: attempt.username, at: attempt.head)
        let known = try await database.transaction { (tx) throws(Failure) in
            let failures = try tx.failures(of: subjects.map(\.hash))
            var wait = failures.compactMap { $0.wait(at: tx.now) }.max()
            // Counted before the password is compared, and forgiven when it is right: of many guesses sent at once only
            // a few are looked at.
            for subject in subjects where subject.isName && wait == nil {
                wait = try tx.countFailure(of: subject.hash, by: subject.rule)
            }
            return Known(
                app: try tx.appFacts(attempt.asked.app),
                account: try attempt.username.flatMap { name throws(Failure) in try tx.signInFacts(username: name) },
                wait: wait, hasFailed: !failures.isEmpty)
        }
        guard let app = known.app else { return SignInPage.refusal(400, "The app that sent you here is gone.") }
        if let seconds = known.wait { return page(app, attempt, .blocked(seconds: seconds)) }
        var facts = known.account
        // Twice, because a sign-in at the same moment may have hashed the password anew meanwhile.
        for _ in 0..<2 {
            guard try await verify(attempt.password, facts, known, subjects), let account = facts else { break }
            let standing = successes.take(account.account.id, at: database.clock.now())
            if let seconds = standing.retryAfter {
                parts.observe(.limited(by: standing.rate.name))
                return page(app, attempt, .blocked(seconds: seconds))
            }
            if let response = try await admit(attempt, app, account, subjects) {
                await renewHash(attempt.password, account)
                return response
            }
            facts = try await database.read(.underWay) { (tx) throws(Failure) in
                try tx.signInFacts(username: account.account.username)
            }
        }
        await refuse(attempt, facts, subjects)
        return page(app, attempt, .wrong)
    }

    /// Brings an old password to the present cost, so that raising it reaches everybody and unknown names keep taking
    /// the same time.
    ///
    /// Nobody waits for it in vain: should it fail, the next sign-in does it.
    private func renewHash(_ password: String, _ facts: SignInFacts) async {
        guard let old = facts.passwordHash, passwords.isOutdated(old), let new = try? await passwords.hash(password)
        else { return }
        do throws(Failure) {
            try await database.transaction(.underWay) { (tx) throws(Failure) in
                try tx.renewHash(of: facts.account.id, from: old, to: new)
            }
        } catch {
            parts.observe(.faltered(task: "password hash", cause: error.cause))
        }
    }

    private func verify(
        _ password: String, _ facts: SignInFacts?, _ known: Known, _ subjects: [SignInThrottle.Subject]
    ) async throws(Failure) -> Bool {
        let isOpen = facts.map { !$0.account.isDisabled } ?? false
        do throws(Passwords.Full) {
            return try await passwords.verify(
                password, against: isOpen ? facts?.passwordHash : nil, isSuspect: known.hasFailed)
        } catch {
            // What nobody looked at was no failure.
            try await database.transaction(.underWay) { (tx) throws(Failure) in
                for subject in subjects where subject.isName { try tx.uncountFailure(of: subject.hash) }
            }
            throw error.failure
        }
    }

    /// Makes the code; `nil` when the account changed while its password was compared.
    private func admit(
        _ attempt: Attempt, _ app: AppFacts, _ facts: SignInFacts, _ subjects: [SignInThrottle.Subject]
    ) async throws(Failure) -> Response? {
        let address = attempt.asked.returnAddress(issuer: parts.issuer)
        let scopes = attempt.asked.scopes.intersection(app.scopes).intersection(facts.account.role.scopes)
        let code = Base64URL.encode(database.entropy.bytes(32))
        let hash = parts.secrets.codes.hash(code)
        let life = parts.settings.codeLife
        let isAdmitted = try await database.transaction(.underWay) { (tx) throws(Failure) in
            guard let current = try tx.holdAccount(facts.account.id), !current.account.isDisabled,
                current.passwordHash == facts.passwordHash
            else { return false }
            // Only the name is forgiven: otherwise who knows one password could try others from the same address.
            for subject in subjects where subject.isName { try tx.forgive(subject.hash) }
            guard !scopes.isEmpty else { return true }
            try tx.insertCode(
                hash, for: attempt.asked, account: current.account.id, scopes: scopes, expiresAt: tx.now + life)
            return true
        }
        guard isAdmitted else { return nil }
        guard !scopes.isEmpty else {
            return SignInPage.redirect(
                to: address.refusing(OAuthError(.accessDenied, "the account may have none of these scopes")))
        }
        parts.observe(.signedIn(outcome: .success))
        return SignInPage.redirect(to: address.answering(code: code))
    }

    /// Audits a refusal and counts it for the address, as the name's was before; should that fail, it is still refused.
    private func refuse(
        _ attempt: Attempt, _ facts: SignInFacts?, _ subjects: [SignInThrottle.Subject]
    ) async {
        parts.observe(.signedIn(outcome: .refused))
        let actor = Actor(kind: .anonymous, app: attempt.asked.app, requestID: attempt.head.id)
        let deed = deed(facts)
        // What is not told now takes as long all the same: it writes a row too.
        let trace = parts.secrets.throttle.hash("unknown " + (attempt.username ?? ""))
        do throws(Failure) {
            try await database.transaction(.underWay) { (tx) throws(Failure) in
                for subject in subjects where !subject.isName {
                    try tx.countFailure(of: subject.hash, by: subject.rule)
                }
                if let deed { tx.record(deed, by: actor) } else { try tx.leaveTrace(trace) }
            }
        } catch {
            let route = attempt.head.routePattern
            parts.observe(.failed(requestID: attempt.head.id, route: route, cause: error.cause))
        }
    }

    /// What the audit log is told now, never the name that was typed: people type passwords there.
    private func deed(_ facts: SignInFacts?) -> Deed? {
        guard let facts else { return parts.unknownNames.noteOne(at: database.clock.now()).map(UnknownNames.deed) }
        return Deed(.sessionRefused, .refused, of: .account(facts.account.id), reason: Self.reason(facts))
    }

    private static func reason(_ facts: SignInFacts) -> String {
        guard !facts.account.isDisabled else { return "account-disabled" }
        return facts.passwordHash == nil ? "no-password" : "wrong-password"
    }

    private func page(_ app: AppFacts, _ attempt: Attempt, _ notice: SignInPage.Notice) -> Response {
        SignInPage.form(
            appName: app.name, ticket: attempt.ticket, username: attempt.username ?? "", notice: notice)
    }

    private var database: Database { parts.database }

    /// The username that was meant: in lower case, without the space a phone's keyboard adds; `nil` for what cannot be one.
    private static func username(_ typed: String) -> String? {
        var bytes = Array(typed.utf8)[...]
        while bytes.last == 0x20 { bytes.removeLast() }
        while bytes.first == 0x20 { bytes.removeFirst() }
        let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard (1...64).contains(lower.count), lower.allSatisfy(isUsernameByte) else { return nil }
        return String(decoding: lower, as: UTF8.self)
    }

    private static func isUsernameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// What was posted.
private struct Attempt: Sendable {
    let asked: AuthorizationRequest
    let ticket: String
    let username: String?
    let password: String
    let head: RequestHead
}

/// What was known before the password was compared.
private struct Known: Sendable {
    let app: AppFacts?
    let account: SignInFacts?
    let wait: Int?
    /// Whether the name or the address has failed lately.
    let hasFailed: Bool
}
