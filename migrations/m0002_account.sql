-- People, and the apps they sign in with.
CREATE TABLE account (
    id            uuid        CONSTRAINT account_pkey PRIMARY KEY,
    username      text        NOT NULL CONSTRAINT account_username_key UNIQUE
                              CONSTRAINT account_username_check CHECK (username ~ '^[a-z0-9._-]{1,64}$'),
    display_name  text        NOT NULL,
    role          text        NOT NULL CONSTRAINT account_role_check CHECK (role IN ('member', 'auditor', 'admin')),
    -- argon2id in PHC form; an account without one cannot sign in yet.
    password_hash text,
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    -- The ETag: grows with every change that a reader can see.
    version       bigint      NOT NULL DEFAULT 1
);

CREATE TABLE app (
    id              text        CONSTRAINT app_pkey PRIMARY KEY
                                CONSTRAINT app_id_check CHECK (id ~ '^[a-z][a-z0-9-]{1,62}$'),
    name            text        NOT NULL,
    kind            text        NOT NULL CONSTRAINT app_kind_check CHECK (kind IN ('app', 'extension')),
    -- An extension reads the mailbox of its parent.
    parent          text        CONSTRAINT app_parent_fkey REFERENCES app (id),
    team_id         text,
    bundle_id       text,
    redirect_uris   text[]      NOT NULL,
    scopes          text[]      NOT NULL,
    sharing_group   text,
    universal_links text[]      NOT NULL DEFAULT '{}',
    url_scheme      text,
    is_built_in     boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    version         bigint      NOT NULL DEFAULT 1,
    CONSTRAINT app_parent_check CHECK ((kind = 'extension') = (parent IS NOT NULL))
);

CREATE INDEX app_parent_idx ON app (parent) WHERE parent IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON account, app TO enfilade_app;

INSERT INTO app (id, name, kind, redirect_uris, scopes, is_built_in, created_at, updated_at)
VALUES ('enfilade-cli', 'Enfilade command line', 'app', '{http://127.0.0.1/callback}',
        '{openid,profile,offline_access,mailbox,mailbox.read,config,admin,audit}', true, now(), now());
