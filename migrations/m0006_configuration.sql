-- Managed configuration: the current revision of each app, every revision there was, what devices report.
CREATE TABLE configuration (
    app_id   text   CONSTRAINT configuration_pkey PRIMARY KEY,
    revision bigint NOT NULL
);

CREATE TABLE configuration_revision (
    app_id           text        NOT NULL,
    revision         bigint      NOT NULL,
    -- The JSON object as the server wrote it: jsonb would rewrite numbers.
    content          text        NOT NULL,
    reason           text        NOT NULL,
    author           uuid        NOT NULL,
    rolled_back_from bigint,
    created_at       timestamptz NOT NULL,
    CONSTRAINT configuration_revision_pkey PRIMARY KEY (app_id, revision)
);

CREATE TABLE configuration_report (
    app_id      text        NOT NULL,
    device_id   uuid        NOT NULL,
    account_id  uuid        NOT NULL,
    revision    bigint      NOT NULL,
    state       text        NOT NULL CONSTRAINT configuration_report_state_check CHECK (state IN ('applied', 'rejected')),
    reasons     text,
    reported_at timestamptz NOT NULL,
    CONSTRAINT configuration_report_pkey PRIMARY KEY (app_id, device_id)
);

-- Who rejected a revision, who has not come to it yet.
CREATE INDEX configuration_report_state_idx ON configuration_report (app_id, state, revision, device_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON configuration, configuration_revision, configuration_report TO enfilade_app;
