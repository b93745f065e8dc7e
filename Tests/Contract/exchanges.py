"""Recorded exchanges against the document: every answer a test saw is one the document promises.

A recording has a JSON object on each line: `method`, `path` (with its query), `status`, `contentType`, `headers`
(name to value), `body` (text) and, where there was one, `requestBody` (text).
"""

import json
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

import events

# Statuses of requests that were refused before they reached an operation.
TRANSPORT = {400, 404, 405, 413, 414, 417, 431, 501, 503, 505}
PROBLEM = {"$ref": "#/components/schemas/Problem"}
FORM = "application/x-www-form-urlencoded"


class Recording:
    """Checks exchanges one by one and remembers which answers were seen."""

    def __init__(self, document):
        self.document = document
        self.seen = Counter()
        self.count = 0

    def check_file(self, path):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                self.count += 1
                try:
                    exchange = json.loads(line)
                    label = f"{exchange['method']} {exchange['path'][:160]} → {exchange['status']}"
                    complaints = list(self.check(exchange))
                except (ValueError, KeyError, TypeError) as error:
                    label, complaints = "not an exchange", [repr(error)]
                yield from (f"{path}:{number}: {label}: {complaint}" for complaint in complaints)

    def check(self, exchange):
        method = exchange["method"].lower()
        path = urlsplit(exchange["path"]).path
        there = self.document.operations_at(path)
        wanted = "get" if method == "head" else method
        operation = next((each for each in there if each.method == wanted), None)
        if operation:
            yield from self._operation(operation, exchange, is_head=method == "head")
        elif method == "options":
            yield from self._options(exchange)
        else:
            yield from self._no_operation(exchange, known=bool(there))

    def never_seen(self):
        """Statuses of every operation that no exchange has shown."""
        for operation in self.document.operations:
            missing = [status for status in operation.spec["responses"] if not self.seen[operation.name, status]]
            yield operation, missing

    def events_never_seen(self):
        """Names of events that no stream has shown; not `heartbeat`, which comes by the clock only."""
        names = {
            name
            for operation in self.document.operations
            for response in map(self.document.resolve, operation.spec["responses"].values())
            for media in response.get("content", {}).values()
            for name in media.get("x-events", {})
        }
        return sorted(name for name in names - {"heartbeat"} if not self.seen["event", name])

    def _operation(self, operation, exchange, is_head):
        status = exchange["status"]
        responses = operation.spec["responses"]
        key = str(status) if str(status) in responses else "default"
        if key == "default" and status not in TRANSPORT:
            yield f"{operation.name} does not list {status}"
            return
        self.seen[operation.name, key] += 1
        response = self.document.resolve(responses[key])
        yield from self._headers(response, exchange)
        yield from self._content(response, exchange, is_head)
        if status < 300:
            yield from self._accepted(operation, exchange)

    def _options(self, exchange):
        if exchange["status"] not in (204, *TRANSPORT):
            yield "OPTIONS is answered 204"
        if exchange["status"] == 204 and "allow" not in _headers(exchange):
            yield "OPTIONS without Allow"

    def _no_operation(self, exchange, known):
        allowed = {405, 501} if known else {404}
        status = exchange["status"]
        if status not in allowed | (TRANSPORT - {404, 405}):
            yield "the path is known, the method is not" if known else "the path is not in the document"
            return
        if status == 405 and "allow" not in _headers(exchange):
            yield "405 without Allow"
        if exchange["method"].upper() != "HEAD":
            yield from self._value(PROBLEM, "application/problem+json", exchange)

    def _headers(self, response, exchange):
        given = _headers(exchange)
        for name, reference in response.get("headers", {}).items():
            header = self.document.resolve(reference)
            if name.lower() not in given:
                if header.get("required"):
                    yield f"no header {name}"
                continue
            text = given[name.lower()]
            whole = self.document.resolve(header["schema"]).get("type") == "integer"
            value = int(text) if whole and text.isdigit() else text
            for error in self.document.errors(header["schema"], value, answer=True):
                yield f"header {name}: {error}"

    def _content(self, response, exchange, is_head):
        media = response.get("content", {})
        kind = (exchange.get("contentType") or "").split(";")[0].strip().lower()
        body = exchange.get("body") or ""
        if not media:
            if body:
                yield f"has a body where none belongs: {body[:80]!r}"
            return
        if kind not in media:
            yield f"content type {kind!r} is none of {sorted(media)}"
            return
        if is_head:
            if body:
                yield "HEAD was answered with a body"
            return
        if kind == "text/event-stream":
            yield from self._events(media[kind], body)
            return
        yield from self._value(media[kind]["schema"], kind, exchange)

    def _value(self, schema, kind, exchange):
        body = exchange.get("body") or ""
        if not kind.endswith("json"):
            if not body:
                yield "the body is empty"
            if kind == "text/html" and "<script" in body.lower():
                yield "a page with a script"
            return
        try:
            value = json.loads(body, object_pairs_hook=_no_duplicates)
        except ValueError as error:
            yield f"the body is not JSON: {error}"
            return
        yield from self.document.errors(schema, value, answer=True)
        if kind == "application/problem+json" and isinstance(value, dict):
            if value.get("status") != exchange["status"]:
                yield f"the problem says status {value.get('status')}"
            if value.get("instance") != _headers(exchange).get("request-id"):
                yield "the problem's instance is not the Request-Id"

    def _events(self, media, body):
        for event in events.parse(body):
            if not event.data:
                yield "a block without data, which some readers take for an empty event"
                continue
            schema = media["x-events"].get(event.name)
            if schema is None:
                yield f"event {event.name!r} is not in the document"
                continue
            self.seen["event", event.name] += 1
            try:
                value = json.loads(event.data, object_pairs_hook=_no_duplicates)
            except ValueError as error:
                yield f"event {event.name}: not JSON: {error}"
                continue
            for error in self.document.errors(schema, value, answer=True):
                yield f"event {event.name}: {error}"
            yield from self._event_id(event)

    def _event_id(self, event):
        if (event.name in events.WITH_ID) != (event.id is not None):
            yield f"event {event.name} {'has no' if event.id is None else 'has an'} id"
        if event.id is not None:
            schema = {"$ref": "#/components/schemas/EventID"}
            for error in self.document.errors(schema, event.id, answer=True):
                yield f"event {event.name}: id: {error}"

    def _accepted(self, operation, exchange):
        """What the server took must be what the document allows to send."""
        parameters = {each["name"]: each for each in self.document.parameters(operation) if each["in"] == "query"}
        query = parse_qsl(urlsplit(exchange["path"]).query, keep_blank_values=True)
        for name, text in query:
            if name not in parameters:
                if operation.path.startswith("/v1"):
                    yield f"accepted the unknown query parameter {name}"
                continue
            for error in self.document.errors(parameters[name]["schema"], self._typed(parameters[name], text), False):
                yield f"accepted ?{name}={text[:40]}: {error}"
        for kind, media in self.document.request_media(operation).items():
            yield from self._accepted_body(kind, media["schema"], exchange.get("requestBody"))

    def _accepted_body(self, kind, schema, body):
        if body is None:
            yield "accepted a request whose body was not recorded"
            return
        try:
            value = dict(parse_qsl(body, keep_blank_values=True)) if kind == FORM else json.loads(body)
        except ValueError as error:
            yield f"accepted a body that is not JSON: {error}"
            return
        for error in self.document.errors(schema, value, answer=False):
            yield f"accepted a request body with {error}"

    def _typed(self, parameter, text):
        kind = self.document.resolve(parameter["schema"]).get("type")
        if kind == "integer" and text.lstrip("-").isdigit():
            return int(text)
        return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def _headers(exchange):
    return {name.lower(): str(value) for name, value in exchange.get("headers", {}).items()}


def _no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError(f"duplicate keys in {names}")
    return dict(pairs)
