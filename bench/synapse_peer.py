"""Matrix Synapse from a virtual environment, on the same PostgreSQL."""

import base64
import contextlib
import json
import os
import pathlib
import random
import subprocess

import peers
from house import SLOT, Failed, free_port, request

DATABASE = "bench_synapse"
PEOPLE = 200


class Synapse:
    def __init__(self, house, port):
        self.house = house
        self.port = port
        self.requests = house.requests("synapse", sends())

    def stored(self):
        return int(self.house.psql("SELECT count(*) FROM device_inbox", DATABASE))


@contextlib.contextmanager
def running(house):
    folder = house.folder / "synapse"
    folder.mkdir(exist_ok=True)
    port = free_port()
    house.psql(f"DROP DATABASE IF EXISTS {DATABASE};")
    house.psql(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C';")
    (folder / "homeserver.json").write_text(json.dumps(configuration(house, folder, port), indent=1))
    python = pathlib.Path(os.environ["BENCH_SYNAPSE_VENV"], "bin/python")
    command = [python, "-m", "synapse.app.homeserver", "--config-path", folder / "homeserver.json"]
    made = subprocess.run([*command, "--generate-keys"], capture_output=True, text=True, cwd=folder)
    if made.returncode:
        raise Failed(f"Synapse made no keys: {made.stderr.strip()[-600:]}")
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
    try:
        peers.wait_for_port(port, process, seconds=90)
        people(house)
        yield Synapse(house, port)
    finally:
        peers.stop(process)
        house.psql(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE);")


def configuration(house, folder, port):
    """Synapse's defaults with rate limits out of the way; its configuration may be JSON, which is YAML too."""
    no_limit = {"per_second": 1_000_000, "burst_count": 1_000_000}
    (folder / "log.json").write_text(json.dumps({
        "version": 1, "handlers": {"console": {"class": "logging.StreamHandler"}},
        "root": {"level": "WARNING", "handlers": ["console"]}, "disable_existing_loggers": False}))
    return {
        "server_name": "bench", "report_stats": False, "pid_file": str(folder / "pid"), "suppress_key_server_warning": True,
        "signing_key_path": str(folder / "signing.key"), "media_store_path": str(folder / "media"),
        "log_config": str(folder / "log.json"), "trusted_key_servers": [], "macaroon_secret_key": "bench only",
        "listeners": [{"port": port, "bind_addresses": ["127.0.0.1"], "type": "http", "resources": [{"names": ["client"]}]}],
        "database": {"name": "psycopg2", "args": {"user": "postgres", "dbname": DATABASE, "host": house.socket,
                                                  "cp_min": 5, "cp_max": 10}},
        "rc_message": no_limit,
    }


def people(house):
    """Accounts, devices and access tokens as Synapse stores them, without signing in one by one."""
    house.psql(f"""
        INSERT INTO users (name, creation_ts, admin, is_guest)
        SELECT '@person' || n || ':bench', 1, 0, 0 FROM generate_series(1, {PEOPLE}) AS n;
        INSERT INTO profiles (user_id, full_user_id)
        SELECT 'person' || n, '@person' || n || ':bench' FROM generate_series(1, {PEOPLE}) AS n;
        INSERT INTO devices (user_id, device_id, display_name, last_seen)
        SELECT '@person' || n || ':bench', 'PHONE', 'Phone', 1 FROM generate_series(1, {PEOPLE}) AS n;
        INSERT INTO access_tokens (id, user_id, device_id, token)
        SELECT n, '@person' || n || ':bench', 'PHONE', 'bench-' || n FROM generate_series(1, {PEOPLE}) AS n;
        """, DATABASE)


def sends():
    chance = random.Random(7)
    made = []
    for n in range(1, PEOPLE + 1):
        to = n % PEOPLE + 1
        body = json.dumps({"messages": {f"@person{to}:bench": {"PHONE": {
            "algorithm": "m.olm.v1.curve25519-aes-sha2",
            "ciphertext": base64.b64encode(chance.randbytes(1_024)).decode()}}}}, separators=(",", ":")).encode()
        made.append(request("PUT", f"/_matrix/client/v3/sendToDevice/m.room.encrypted/{SLOT}",
                            [("Authorization", f"Bearer bench-{n}")], body))
    chance.shuffle(made)
    return made
