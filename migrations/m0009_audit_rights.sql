-- breaking
-- Programs before this one put entries into the queue and the order by themselves; from here on their rights to do so are
-- gone, and they could record nothing.
--
-- The server's role may add an entry and nothing else: the queue and the order are written by functions of the schema's
-- owner, so that whoever has the role can neither take an entry out before it is in order, nor leave holes in the order,
-- nor put one entry into it twice.
CREATE FUNCTION audit_enqueue() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO audit_pending (entry_id) VALUES (new.id);
    RETURN NULL;
END
$$;

-- Names inside are looked up in the schema's own tables, never in temporary ones that somebody else made.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION audit_enqueue() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END
$$;

CREATE TRIGGER audit_entry_enqueue
    AFTER INSERT ON audit_entry
    FOR EACH ROW
    EXECUTE FUNCTION audit_enqueue();

-- Gives the longest waiting entries the next indexes, and returns how many there were. Its names are bound here, once. An
-- entry that commits later than its place in the queue is simply put in order later: indexes have no holes. OFFSET 0
-- keeps the planner from reading all entries there are for a handful.
CREATE FUNCTION audit_sequence(bound integer) RETURNS bigint
    LANGUAGE sql
    SECURITY DEFINER
BEGIN ATOMIC
    WITH taken AS (
        DELETE FROM audit_pending
        WHERE position IN (SELECT position FROM audit_pending ORDER BY position LIMIT bound)
        RETURNING position, entry_id
    ), placed AS (
        INSERT INTO audit_leaf (index, entry_id, occurred_at, action, outcome, actor_id, target_id)
        SELECT (SELECT coalesce(max(index), -1) FROM audit_leaf) + row_number() OVER (ORDER BY taken.position),
               e.id, e.occurred_at, e.action, e.outcome, e.actor_id, e.target_id
        FROM taken
        CROSS JOIN LATERAL (
            SELECT id, occurred_at, action, outcome, actor_id, target_id
            FROM audit_entry
            WHERE audit_entry.id = taken.entry_id
            OFFSET 0
        ) AS e
        RETURNING index
    )
    SELECT count(*) FROM placed;
END;

REVOKE EXECUTE ON FUNCTION audit_enqueue(), audit_sequence(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_sequence(integer) TO enfilade_app;
REVOKE INSERT ON audit_leaf FROM enfilade_app;
REVOKE INSERT, DELETE ON audit_pending FROM enfilade_app;

-- A revision never changes; all of an app's go with the app.
REVOKE UPDATE ON configuration_revision FROM enfilade_app;
