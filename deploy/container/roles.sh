#!/usr/bin/env bash
# deploy/container/roles.sh: the two roles and the database of a new cluster, from the passwords of compose.yaml.
set -euo pipefail

psql --quiet --set=ON_ERROR_STOP=1 --username=postgres \
    --set=owner="$(cat /run/secrets/owner-password)" --set=app="$(cat /run/secrets/app-password)" <<'SQL'
CREATE ROLE enfilade_owner LOGIN PASSWORD :'owner';
CREATE ROLE enfilade_app LOGIN PASSWORD :'app';
CREATE DATABASE enfilade OWNER enfilade_owner;
REVOKE ALL ON DATABASE enfilade FROM PUBLIC;
GRANT CONNECT ON DATABASE enfilade TO enfilade_app;
SQL
