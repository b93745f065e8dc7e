import TestKit

/// Many rows in every table, written in bulk: what a server holds after years.
struct Seed {
    let rows: Int
    let mailbox: String
    let account: String

    /// Without triggers, so that no entry has to be put in order.
    var statements: [String] {
        [people, sessions, devices, mailboxes, configuration, audit, small].map {
            "SET session_replication_role = replica; SET synchronous_commit = off; " + $0
        }
    }

    private func id(_ number: String) -> String {
        "('00000000-0000-7000-8000-' || lpad(to_hex(\(number)), 12, '0'))::uuid"
    }

    private var many: String { "FROM generate_series(1, \(rows)) AS i" }

    private var people: String {
        """
        INSERT INTO account (id, username, display_name, role, created_at, updated_at)
        SELECT \(id("i")), 'user' || i, 'User', 'member', now(), now() \(many);
        INSERT INTO app (id, name, kind, redirect_uris, scopes, created_at, updated_at)
        SELECT 'app-' || i, 'App', 'app', '{}', '{}', now(), now() \(many);
        """
    }

    /// One in twenty ended, all of these of one account.
    private var sessions: String {
        """
        INSERT INTO session (id, account_id, app_id, device_id, role, scopes, created_at, last_used_at, expires_at,
                             ended_at, ended_because)
        SELECT \(id("i")), CASE WHEN i % 20 = 0 THEN '\(account)' ELSE \(id("i")) END, 'app-1', \(id("i")), 'member', '{}',
               now(), now(), now() + interval '9 days', CASE WHEN i % 20 = 0 THEN now() - interval '9 days' END,
               CASE WHEN i % 20 = 0 THEN 'signed-out' END \(many);
        """
    }

    private var devices: String {
        """
        INSERT INTO device_list (account_id) SELECT \(id("i")) \(many);
        INSERT INTO device (id, account_id, name, platform, identity_key, agreement_key, enrolled_at, updated_at)
        SELECT \(id("i")), \(id("i")), 'Phone', 'ios', sha256(i::text::bytea), sha256(i::text::bytea), now(), now() \(many);
        """
    }

    private var mailboxes: String {
        """
        INSERT INTO mailbox (id, account_id, device_id, app_id, created_at)
        SELECT \(id("i")), \(id("i")), \(id("i")), 'app-1', now() \(many);
        INSERT INTO mailbox_ack (mailbox_id) SELECT \(id("i")) \(many);
        INSERT INTO mailbox_item (mailbox_id, seq, message_id, kind, sender_account, sender_device, sent_at, keep_until,
                                  ciphertext)
        SELECT '\(mailbox)', i, \(id("i")), 'message', \(id("1")), \(id("1")), now(),
               now() + CASE WHEN i > 100 THEN 9 ELSE -1 END * interval '1 day', 'x' \(many);
        UPDATE mailbox SET next_seq = \(rows + 1) WHERE id = '\(mailbox)';
        INSERT INTO message (sender_device, id, digest, sent_at, accepted, keep_until)
        SELECT \(id("1")), \(id("i")), 'x', now(), '{}',
               now() + CASE WHEN i > 100 THEN 9 ELSE -1 END * interval '1 day' \(many);
        """
    }

    /// A report in a thousand is a rejection; nine in ten are of the latest revision.
    private var configuration: String {
        """
        INSERT INTO configuration_revision (app_id, revision, content, reason, author, created_at)
        SELECT 'chat', i, '{}', 'Because', \(id("1")), now() \(many);
        INSERT INTO configuration (app_id, revision) VALUES ('chat', \(rows));
        INSERT INTO configuration_report (app_id, device_id, account_id, revision, state, reported_at)
        SELECT 'chat', \(id("i")), \(id("i")), CASE WHEN i % 10 = 0 THEN 7 ELSE \(rows) END,
               CASE WHEN i % 1000 = 0 THEN 'rejected' ELSE 'applied' END, now() \(many);
        """
    }

    private var audit: String {
        """
        INSERT INTO audit_entry (id, occurred_at, action, outcome, actor_kind, actor_id, target_kind, target_id)
        SELECT \(id("i")), now() - (\(rows) - i) * interval '10 seconds',
               CASE i % 100 WHEN 0 THEN 'account.created' WHEN 1 THEN 'app.created' ELSE 'session.started' END,
               CASE WHEN i % 500 = 0 THEN 'refused' ELSE 'success' END, 'account',
               CASE WHEN i % 2 = 0 THEN \(id("1")) ELSE \(id("i % 1000")) END, 'account', \(id("i % 5000"))
        \(many);
        INSERT INTO audit_leaf (index, entry_id, occurred_at, action, outcome, actor_id, target_id)
        SELECT 1000 + i, e.id, e.occurred_at, e.action, e.outcome, e.actor_id, e.target_id
        \(many) JOIN audit_entry e ON e.id = \(id("i"));
        """
    }

    private var small: String {
        """
        INSERT INTO sign_in_throttle (subject, failures, last_failed_at)
        SELECT sha256(i::text::bytea), 1, now() \(many);
        INSERT INTO idempotency (account_id, app_id, route, key, digest, status, body, created_at)
        SELECT \(id("1")), 'chat', 'x', i::text, 'x', 201, 'x', now() \(many);
        INSERT INTO refresh_token (hash, session_id, issued_at) SELECT sha256(i::text::bytea), \(id("i")), now() \(many);
        """
    }
}
