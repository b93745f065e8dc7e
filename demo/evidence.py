"""Looks behind the server: at the row it stored and the log it wrote."""

import json
import os
import subprocess
import time
from pathlib import Path

from say import Wrong, check

COLUMNS = (
    "seq", "message_id", "kind", "sender_account", "sender_device", "conversation_id", "sent_at", "expires_at",
    "keep_until", "ciphertext",
)


def read_row(message_id: str, device_id: str) -> dict[str, str] | None:
    """The row of a message for a device as PostgreSQL prints it; nothing when its address is not known."""
    address = os.environ.get("ENFILADE_DATABASE_URL")
    if not address:
        return None
    sql = f"""
        SELECT {', '.join(f'i.{column}' for column in COLUMNS)}
        FROM mailbox_item i JOIN mailbox b ON b.id = i.mailbox_id
        WHERE i.message_id = :'message' AND b.device_id = :'device'
    """
    try:
        done = subprocess.run(
            [
                "psql", "--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only",
                "--field-separator=\t", "--set=ON_ERROR_STOP=1", f"--set=message={message_id}",
                f"--set=device={device_id}", address,
            ],
            input=sql, capture_output=True, text=True, timeout=15,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Wrong(f"psql could not be run: {error}") from error
    check(done.returncode == 0, f"psql failed: {done.stderr.strip()}")
    rows = done.stdout.splitlines()
    check(len(rows) == 1, f"{len(rows)} rows hold message {message_id} for this device instead of 1")
    return dict(zip(COLUMNS, rows[0].split("\t"), strict=True))


def server_log() -> str | None:
    return os.environ.get("ENFILADE_SERVER_LOG")


def await_line(path: str, request_id: str) -> dict:
    """The log's line for a request, so that a search which finds nothing has looked in the right place."""
    deadline = time.monotonic() + 3
    while True:
        for line in Path(path).read_text(errors="replace").splitlines():
            if request_id in line:
                return _object(line)
        if time.monotonic() > deadline:
            raise Wrong(f"{path} has no line for request {request_id}; is it this server's log?")
        time.sleep(0.05)


def _object(line: str) -> dict:
    try:
        return json.loads(line)
    except ValueError as error:
        raise Wrong(f"a line of the log is not JSON: {line[:80]}") from error
