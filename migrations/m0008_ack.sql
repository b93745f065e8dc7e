-- An index that reads acked, be it in its predicate, makes every acknowledgement write to all indexes of the table. What
-- the sweeper looks for is a column of its own now, which changes only with the first acknowledgement after a sweep.
ALTER TABLE mailbox_ack ADD COLUMN is_behind boolean NOT NULL GENERATED ALWAYS AS (swept_through < acked) STORED;
DROP INDEX mailbox_ack_unswept_idx;
CREATE INDEX mailbox_ack_behind_idx ON mailbox_ack (mailbox_id) WHERE is_behind;

-- Rows that come and go all the time: cleaned up after thousands, not after a fifth of a large table.
ALTER TABLE mailbox SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
ALTER TABLE mailbox_ack SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
ALTER TABLE mailbox_item SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
ALTER TABLE message SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
