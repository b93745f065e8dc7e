-- Every list and every look-up reads what it shows, however much there is beside it.

-- Who administers is asked whenever an account changes.
CREATE INDEX account_admin_idx ON account (id) WHERE role = 'admin';

-- An account's live sessions, past those that ended in the last month.
CREATE INDEX session_account_live_idx ON session (account_id, id) WHERE ended_at IS NULL;

-- The mailboxes of an app that is removed.
CREATE INDEX mailbox_app_idx ON mailbox (app_id);

-- Reports by state or by revision alone, in the order of devices.
CREATE INDEX configuration_report_state_device_idx ON configuration_report (app_id, state, device_id);
CREATE INDEX configuration_report_revision_idx ON configuration_report (app_id, revision, device_id);

-- Entries of an action that were refused, or that were not.
CREATE INDEX audit_leaf_action_outcome_idx ON audit_leaf (action, outcome, index);
