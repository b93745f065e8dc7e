-- Signing in: keys that sign tokens, codes, sessions, refresh tokens. Secrets are kept as keyed hashes only.
CREATE TABLE signing_key (
    id           text        CONSTRAINT signing_key_pkey PRIMARY KEY,
    public_key   bytea       NOT NULL CONSTRAINT signing_key_public_key_check CHECK (length(public_key) = 32),
    -- The seed, sealed under the root key: a stolen database signs nothing.
    sealed_seed  bytea       NOT NULL,
    created_at   timestamptz NOT NULL,
    -- Published before it signs, and after it has stopped signing.
    activates_at timestamptz NOT NULL,
    retires_at   timestamptz NOT NULL
);

CREATE TABLE session (
    id            uuid        CONSTRAINT session_pkey PRIMARY KEY,
    account_id    uuid        NOT NULL,
    app_id        text        NOT NULL,
    device_id     uuid,
    role          text        NOT NULL,
    scopes        text[]      NOT NULL,
    created_at    timestamptz NOT NULL,
    last_used_at  timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    ended_because text,
    CONSTRAINT session_ended_check CHECK ((ended_at IS NULL) = (ended_because IS NULL))
);

CREATE INDEX session_account_idx ON session (account_id, id);
CREATE INDEX session_device_idx ON session (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX session_app_idx ON session (app_id) WHERE ended_at IS NULL;
CREATE INDEX session_ended_at_idx ON session (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX session_expires_at_idx ON session (expires_at) WHERE ended_at IS NULL;

CREATE TABLE authorization_code (
    hash           bytea       CONSTRAINT authorization_code_pkey PRIMARY KEY,
    account_id     uuid        NOT NULL,
    app_id         text        NOT NULL,
    redirect_uri   text        NOT NULL,
    code_challenge text        NOT NULL,
    scopes         text[]      NOT NULL,
    nonce          text,
    signed_in_at   timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    -- The session this code was redeemed for; redeeming it again ends that session (RFC 6749 §4.1.2).
    session_id     uuid
);

CREATE INDEX authorization_code_expires_at_idx ON authorization_code (expires_at);

CREATE TABLE refresh_token (
    hash       bytea       CONSTRAINT refresh_token_pkey PRIMARY KEY,
    session_id uuid        NOT NULL,
    issued_at  timestamptz NOT NULL,
    -- Set when the token was exchanged; its successor is derived, so that a lost answer can be asked for again.
    used_at    timestamptz,
    successor  bytea
);

CREATE INDEX refresh_token_session_idx ON refresh_token (session_id);

-- Failures by account and by address, as keyed hashes: the table names nobody.
CREATE TABLE sign_in_throttle (
    subject        bytea       CONSTRAINT sign_in_throttle_pkey PRIMARY KEY,
    failures       integer     NOT NULL,
    last_failed_at timestamptz NOT NULL,
    blocked_until  timestamptz
);

CREATE INDEX sign_in_throttle_last_failed_at_idx ON sign_in_throttle (last_failed_at);

GRANT SELECT, INSERT, UPDATE, DELETE
    ON signing_key, session, authorization_code, refresh_token, sign_in_throttle TO enfilade_app;
