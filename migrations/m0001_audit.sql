-- Every act writes its entry in its own transaction; nobody but the owner can change or delete one.
CREATE TABLE audit_entry (
    id          uuid        CONSTRAINT audit_entry_pkey PRIMARY KEY,
    occurred_at timestamptz NOT NULL,
    action      text        NOT NULL,
    outcome     text        NOT NULL CONSTRAINT audit_entry_outcome_check CHECK (outcome IN ('success', 'refused')),
    actor_kind  text        NOT NULL,
    actor_id    text,
    target_kind text,
    target_id   text,
    app_id      text,
    session_id  uuid,
    request_id  text,
    -- JSON as the server wrote it: jsonb would rewrite numbers and key order, and the bytes are evidence.
    before      text,
    after       text,
    reason      text
);

-- The queue between the acts and their order: position is allocation order, which is not commit order.
CREATE TABLE audit_pending (
    position bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_pending_pkey PRIMARY KEY,
    entry_id uuid   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The order: contiguous indexes given by one leader. What lists filter by is repeated here, so that each filter has an
-- index that ends in the index of the entry.
CREATE TABLE audit_leaf (
    index       bigint      CONSTRAINT audit_leaf_pkey PRIMARY KEY,
    entry_id    uuid        NOT NULL CONSTRAINT audit_leaf_entry_id_key UNIQUE
                            CONSTRAINT audit_leaf_entry_id_fkey REFERENCES audit_entry (id),
    occurred_at timestamptz NOT NULL,
    action      text        NOT NULL,
    outcome     text        NOT NULL,
    actor_id    text,
    target_id   text
);

CREATE INDEX audit_leaf_actor_idx ON audit_leaf (actor_id, index);
CREATE INDEX audit_leaf_target_idx ON audit_leaf (target_id, index);
CREATE INDEX audit_leaf_action_idx ON audit_leaf (action, index);
CREATE INDEX audit_leaf_outcome_idx ON audit_leaf (outcome, index);
CREATE INDEX audit_leaf_occurred_at_idx ON audit_leaf (occurred_at, index);

GRANT SELECT, INSERT ON audit_entry, audit_leaf TO enfilade_app;
GRANT SELECT, INSERT, DELETE ON audit_pending TO enfilade_app;
