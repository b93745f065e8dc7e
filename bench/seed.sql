-- :accounts people with one device, one session and one mailbox each, an administrator, and an app with configuration.
-- Ids end in a number of six digits, so that a client makes one by appending it.
BEGIN;

INSERT INTO app (id, name, kind, redirect_uris, scopes, created_at, updated_at)
VALUES ('bench', 'Bench', 'app', '{http://127.0.0.1/callback}', '{openid,offline_access,mailbox,config}', now(), now());

CREATE TEMPORARY TABLE person AS
SELECT n,
       ('0a000000-0000-7000-8000-000000' || n)::uuid AS account,
       ('0d000000-0000-7000-8000-000000' || n)::uuid AS device,
       ('05000000-0000-7000-8000-000000' || n)::uuid AS session,
       ('0b000000-0000-7000-8000-000000' || n)::uuid AS mailbox
FROM generate_series(100000, 100000 + :accounts) AS n;

INSERT INTO account (id, username, display_name, role, created_at, updated_at)
SELECT account, 'person-' || n, 'Person ' || n, CASE WHEN n = 100000 THEN 'admin' ELSE 'member' END, now(), now()
FROM person;

INSERT INTO device_list (account_id, version)
SELECT account, 1 FROM person;

INSERT INTO device (id, account_id, name, platform, model, os_version, app_version, identity_key, agreement_key,
                    enrolled_at, updated_at)
SELECT device, account, 'Phone of ' || n, 'iOS', 'iPhone17,1', '19.0', '1.0',
       sha256(('identity ' || n)::bytea), sha256(('agreement ' || n)::bytea), now(), now()
FROM person
WHERE n > 100000;

INSERT INTO session (id, account_id, app_id, device_id, role, scopes, created_at, last_used_at, expires_at)
SELECT session, account, CASE WHEN n = 100000 THEN 'enfilade-cli' ELSE 'bench' END,
       CASE WHEN n > 100000 THEN device END, CASE WHEN n = 100000 THEN 'admin' ELSE 'member' END,
       CASE WHEN n = 100000 THEN '{openid,config,admin}' ELSE '{openid,mailbox,config}' END::text[], now(), now(),
       now() + interval '30 days'
FROM person;

INSERT INTO mailbox (id, account_id, device_id, app_id, created_at)
SELECT mailbox, account, device, 'bench', now() FROM person WHERE n > 100000;

INSERT INTO mailbox_ack (mailbox_id)
SELECT mailbox FROM person WHERE n > 100000;

COMMIT;
