\set n random(100001, 110000)
SELECT id, account_id, name, platform, model, os_version, app_version, identity_key, agreement_key, key_version, enrolled_at, updated_at, last_seen_at, version FROM device WHERE id = ('0d000000-0000-7000-8000-000000' || :n)::uuid AND removed_at IS NULL;
