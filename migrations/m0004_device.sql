-- Devices and the version of each account's set of them.
CREATE TABLE device (
    id            uuid        CONSTRAINT device_pkey PRIMARY KEY,
    account_id    uuid        NOT NULL,
    name          text        NOT NULL,
    platform      text        NOT NULL,
    model         text,
    os_version    text,
    app_version   text,
    -- Unique also among removed devices: removal is final for a key.
    identity_key  bytea       NOT NULL CONSTRAINT device_identity_key_key UNIQUE
                              CONSTRAINT device_identity_key_check CHECK (length(identity_key) = 32),
    agreement_key bytea       NOT NULL CONSTRAINT device_agreement_key_check CHECK (length(agreement_key) = 32),
    key_version   bigint      NOT NULL DEFAULT 1,
    enrolled_at   timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    last_seen_at  timestamptz,
    removed_at    timestamptz,
    version       bigint      NOT NULL DEFAULT 1
);

CREATE INDEX device_account_idx ON device (account_id, id) WHERE removed_at IS NULL;

-- Senders lock this row FOR SHARE, whoever changes the set or a key takes it FOR UPDATE and bumps the version.
-- It is made with the account, so that there is always something to lock.
CREATE TABLE device_list (
    account_id uuid   CONSTRAINT device_list_pkey PRIMARY KEY,
    version    bigint NOT NULL DEFAULT 0
);

GRANT SELECT, INSERT, UPDATE, DELETE ON device, device_list TO enfilade_app;
