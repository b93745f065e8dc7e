"""The server's own table of routes against the document's, both ways."""

import re


def check(document, path):
    """All differences, as lines of text. The file has a line `METHOD /path/{parameter}` for each route."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip()]
    malformed = [" ".join(line) for line in lines if len(line) != 2]
    if malformed:
        return [f"{path}: not a route: {line}" for line in malformed]
    served = {f"{method.upper()} {route}" for method, route in lines}
    listed = {operation.route for operation in document.operations}
    return [
        *(f"{route} is served and not in the document" + _near(route, listed) for route in sorted(served - listed)),
        *(f"{route} is in the document and not served" + _near(route, served) for route in sorted(listed - served)),
    ]


def _near(route, others):
    shape = re.sub(r"\{[^}]+\}", "{}", route)
    for other in others:
        if re.sub(r"\{[^}]+\}", "{}", other) == shape:
            return f" (parameters are named otherwise: {other})"
    return ""
