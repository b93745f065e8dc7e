"""A reader of server-sent events (WHATWG HTML §9.2.6)."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from say import Wrong
from server import Server, in_words

# A heartbeat comes every 15 seconds or so; three that do not come mean that the connection is dead.
SILENCE = 45


@dataclass(frozen=True)
class Event:
    name: str
    data: dict
    last_id: str | None


class Stream:
    """One connection to `/v1/events`. Ends when the server ends it or when `cut` is called from another thread."""

    def __init__(self, server: Server, token: str, last_id: str | None) -> None:
        self._http = server.http
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream", "Cache-Control": "no-store"}
        if last_id is not None:
            self._headers["Last-Event-ID"] = last_id
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_cut = False
        self.retry: int | None = None

    def events(self) -> Iterator[Event]:
        """Until the stream ends; an end in the middle of an answer is a fault unless it was cut here."""
        timeout = httpx.Timeout(15, read=SILENCE)
        try:
            with self._http.stream("GET", "/v1/events", headers=self._headers, timeout=timeout) as response:
                if response.status_code != 200:
                    response.read()
                    raise Wrong(f"GET /v1/events answered {in_words(response)}")
                self._hold(response)
                yield from self._parse(response.iter_bytes())
        except httpx.HTTPError as error:
            if not self.is_cut:
                raise Wrong(f"the event stream broke: {error or type(error).__name__}") from error

    def cut(self) -> None:
        """As when the network goes away: nothing is said to the server."""
        with self._lock:
            self.is_cut = True
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)

    def _hold(self, response: httpx.Response) -> None:
        with self._lock:
            self._socket = response.extensions["network_stream"].get_extra_info("socket")

    def _parse(self, pieces: Iterator[bytes]) -> Iterator[Event]:
        name, data, last_id = "", [], None
        for line in _lines(pieces):
            if not line:
                if data:
                    yield Event(name or "message", json.loads("\n".join(data)), last_id)
                name, data = "", []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match field:
                case "event":
                    name = value
                case "data":
                    data.append(value)
                case "id" if "\0" not in value:
                    last_id = value
                case "retry" if value.isdecimal():
                    self.retry = int(value)


_line_end = re.compile(rb"\r\n|\n|\r(?!\Z)")


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Lines as soon as they are complete; a CR at the very end waits, because a LF may follow."""
    rest = b""
    for piece in pieces:
        *complete, rest = _line_end.split(rest + piece)
        for line in complete:
            yield line.decode()
