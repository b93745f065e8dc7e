"""A device is a process of its own: it makes its keys and keeps them, and talks to the server by itself. The story
only asks it to do things and hears what happened."""

import multiprocessing
import signal
import threading
import time
from multiprocessing.connection import Connection

from client import Client
from keys import Keys
from say import Wrong
from secrets_used import Secrets
from server import Server

DEADLINE = 10.0


class Device:
    """The story's end of a device process. To be made before the story has connections or threads of its own."""

    def __init__(self, url: str, name: str, platform: str) -> None:
        self.name = name
        self.platform = platform
        self.id = ""
        self._heard: list[dict] = []
        context = multiprocessing.get_context("fork")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=run, args=(other, self._pipe, url), name=name, daemon=True)
        self._process.start()
        other.close()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def ask(self, app: str, act: str, *values: object) -> dict:
        """Has one of its apps do something, and waits until it is done."""
        self._pipe.send((app, act, values))
        while True:
            kind, value = self._receive(time.monotonic() + 30, act)
            if kind == "done":
                return value
            self._hear(value)

    def expect(self, app: str, kind: str) -> dict:
        """The next fact of this kind; what else happened stays to be asked for."""
        deadline = time.monotonic() + DEADLINE
        while True:
            for fact in self._heard:
                if fact["app"] == app and fact["kind"] == kind:
                    self._heard.remove(fact)
                    return fact
            self._hear(self._receive(deadline, f"'{kind}'")[1])

    def heard(self, app: str) -> list[dict]:
        """Everything that happened and was not asked for yet, in order."""
        facts = [fact for fact in self._heard if fact["app"] == app]
        self._heard = [fact for fact in self._heard if fact["app"] != app]
        return facts

    def _hear(self, fact: dict) -> None:
        if fact["kind"] == "fault":
            raise Wrong(f"{self.name}: {fact['words']}")
        self._heard.append(fact)

    def _receive(self, deadline: float, awaited: str) -> tuple[str, dict]:
        try:
            if not self._pipe.poll(max(0.0, deadline - time.monotonic())):
                raise Wrong(f"{self.name}: {awaited} did not come in time")
            kind, value = self._pipe.recv()
        except (EOFError, ConnectionError) as error:
            raise Wrong(f"{self.name}: its process ended") from error
        if kind == "wrong":
            raise Wrong(f"{self.name}: {value}")
        return kind, value


def run(pipe: Connection, storys_end: Connection, url: str) -> None:
    """The device process: does what it is asked until nobody asks any more."""
    storys_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lock = threading.Lock()

    def tell(kind: str, value: object) -> None:
        with lock:
            try:
                pipe.send((kind, value))
            except OSError:
                pass  # The story has ended.

    kept = Secrets()
    keys = Keys(kept)
    server: Server | None = None
    clients: dict[str, Client] = {}
    while True:
        try:
            app, act, values = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if act == "search_log":
                tell("done", kept.search(*values))
                continue
            server = server or Server(url)
            if app not in clients:
                clients[app] = Client(server, keys, kept, app, lambda fact: tell("fact", fact))
            tell("done", getattr(clients[app], act)(*values))
        except Wrong as wrong:
            tell("wrong", str(wrong))
        except Exception as error:  # Said to the story, which ends with it.
            tell("wrong", f"{act}: {type(error).__name__}: {error}")
