-- One mailbox for each (device, app). next_seq is taken under this row's lock: sequence order is commit order.
CREATE TABLE mailbox (
    id              uuid        CONSTRAINT mailbox_pkey PRIMARY KEY,
    account_id      uuid        NOT NULL,
    device_id       uuid        NOT NULL,
    app_id          text        NOT NULL,
    -- Grows when the server's past was replaced (a restored backup): older cursors are void.
    epoch           bigint      NOT NULL DEFAULT 1,
    next_seq        bigint      NOT NULL DEFAULT 1,
    trimmed_through bigint      NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    CONSTRAINT mailbox_device_app_key UNIQUE (device_id, app_id)
) WITH (fillfactor = 50);

CREATE INDEX mailbox_account_app_idx ON mailbox (account_id, app_id);

CREATE TABLE mailbox_item (
    mailbox_id      uuid        NOT NULL,
    seq             bigint      NOT NULL,
    message_id      uuid        NOT NULL,
    kind            text        NOT NULL
                                CONSTRAINT mailbox_item_kind_check CHECK (kind IN ('message', 'receipt', 'system')),
    sender_account  uuid        NOT NULL,
    sender_device   uuid        NOT NULL,
    conversation_id text,
    sent_at         timestamptz NOT NULL,
    -- What the sender asked for, and when the server forgets at the latest.
    expires_at      timestamptz,
    keep_until      timestamptz NOT NULL,
    ciphertext      bytea       NOT NULL,
    CONSTRAINT mailbox_item_pkey PRIMARY KEY (mailbox_id, seq)
);

-- Ciphertext does not compress; EXTERNAL spares the attempt.
ALTER TABLE mailbox_item ALTER COLUMN ciphertext SET STORAGE EXTERNAL;
CREATE INDEX mailbox_item_keep_until_idx ON mailbox_item (keep_until);

-- Apart from mailbox, so that acknowledging never waits behind sending.
CREATE TABLE mailbox_ack (
    mailbox_id    uuid   CONSTRAINT mailbox_ack_pkey PRIMARY KEY,
    acked         bigint NOT NULL DEFAULT 0,
    -- How far the sweeper has deleted.
    swept_through bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX mailbox_ack_unswept_idx ON mailbox_ack (mailbox_id) WHERE swept_through < acked;

-- What was answered to each send, longer than its items live: the same id never means two messages.
CREATE TABLE message (
    sender_device uuid        NOT NULL,
    id            uuid        NOT NULL,
    digest        bytea       NOT NULL,
    sent_at       timestamptz NOT NULL,
    accepted      uuid[]      NOT NULL,
    keep_until    timestamptz NOT NULL,
    CONSTRAINT message_pkey PRIMARY KEY (sender_device, id)
);

CREATE INDEX message_keep_until_idx ON message (keep_until);

GRANT SELECT, INSERT, UPDATE, DELETE ON mailbox, mailbox_item, mailbox_ack, message TO enfilade_app;
