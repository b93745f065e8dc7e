-- Replies to creating POSTs, for 24 hours, so that a retry gets the same answer. Never holds a secret.
CREATE TABLE idempotency (
    account_id uuid        NOT NULL,
    app_id     text        NOT NULL,
    route      text        NOT NULL,
    key        text        NOT NULL,
    digest     bytea       NOT NULL,
    status     integer     NOT NULL,
    location   text,
    etag       text,
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT idempotency_pkey PRIMARY KEY (account_id, app_id, route, key)
);

CREATE INDEX idempotency_created_at_idx ON idempotency (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO enfilade_app;
