"""The transcript: numbered chapters, one line for each fact, colours only on a terminal."""

import os
import sys

WHO = 15
WHAT = 36


class Wrong(Exception):
    """Something is not as it should be; the text says what."""


def check(holds: object, words: str) -> None:
    """Ends the story unless the condition holds."""
    if not holds:
        raise Wrong(words)


def check_equal(actual: object, wanted: object, what: str) -> None:
    """Ends the story unless both are the same."""
    if actual != wanted:
        raise Wrong(f"{what}: {actual!r} instead of {wanted!r}")


class Transcript:
    """Writes to standard output at once, so that the story can be followed while it happens."""

    def __init__(self) -> None:
        self._coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._chapters = 0

    def title(self, words: str) -> None:
        print(self._in("1", words), flush=True)

    def chapter(self, words: str) -> None:
        self._chapters += 1
        print(f"\n{self._in('1;36', f'{self._chapters:>2}  {words}')}", flush=True)

    def fact(self, who: str, what: str, detail: str = "") -> None:
        line = f"    {who:<{WHO}} {what:<{WHAT}}"
        print(f"{line} {self._in('2', detail)}" if detail else line.rstrip(), flush=True)

    def end(self, words: str) -> None:
        print(f"\n{self._in('1;32', words)}", flush=True)

    def failed(self, wrong: str) -> None:
        sys.stdout.flush()
        where = f" in chapter {self._chapters}" if self._chapters else ""
        red = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        words = f"The story failed{where}: {wrong}"
        print(f"\n\x1b[1;31m{words}\x1b[0m" if red else f"\n{words}", file=sys.stderr, flush=True)

    def _in(self, colour: str, words: str) -> str:
        return f"\x1b[{colour}m{words}\x1b[0m" if self._coloured else words


def short(identifier: str) -> str:
    """The end of an id: version 7 begins with the time, so ids of one run begin alike."""
    return f"…{identifier[-8:]}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
