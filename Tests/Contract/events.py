"""Server-sent events out of the text of a stream (WHATWG HTML §9.2)."""

import re
from dataclasses import dataclass

# The document says which events move a client's position.
WITH_ID = {"ready", "message", "config", "gap"}


@dataclass
class Event:
    name: str
    data: str
    id: str | None


def parse(text):
    """Whole events only: what was cut off at the end of a recording is dropped.

    A block without data is given as an event with empty data. A reader following the standard ignores it; others
    do not, so that it should not be sent.
    """
    name, data, own_id, lines = "message", [], None, 0
    for line in re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff"))[:-1]:
        if not line:
            if lines:
                yield Event(name, "\n".join(data), own_id)
            name, data, own_id, lines = "message", [], None, 0
            continue
        lines += 1
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id" and "\0" not in value:
            own_id = value
