"""What must never be found in the server's log: every secret that this process made or was given."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus


class Secrets:
    """Kept in the process that uses them: only what was found leaves it."""

    def __init__(self) -> None:
        self._values: list[tuple[str, bytes]] = []

    def add(self, kind: str, value: str | bytes) -> None:
        self._values.append((kind, value.encode() if isinstance(value, str) else value))

    def search(self, path: str) -> dict:
        """Looks for each secret in each spelling that a log could give it."""
        log = b"\n".join(line for line in Path(path).read_bytes().splitlines() if not is_announcement(line))
        found = sorted({kind for kind, value in self._values if any(s in log for s in spellings(value))})
        kinds = sorted({kind for kind, _ in self._values})
        return {"searched": len(self._values), "kinds": kinds, "found": found}


def is_announcement(line: bytes) -> bool:
    """bin/run shows a new administrator's password once; that is no line of the server's."""
    return line.startswith(b"  password:") and b"(shown only now; " in line


def spellings(value: bytes) -> Iterator[bytes]:
    yield value
    yield value.hex().encode()
    yield base64.b64encode(value).rstrip(b"=")
    yield base64.urlsafe_b64encode(value).rstrip(b"=")
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return
    yield quote(text, safe="").encode()
    yield quote_plus(text).encode()
    yield json.dumps(text)[1:-1].encode()
