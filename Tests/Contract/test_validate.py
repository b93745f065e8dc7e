"""The checks themselves: they find what is wrong and let pass what is right. Run with `python -m unittest`."""

import copy
import json
import tempfile
import unittest
from pathlib import Path

import events
import exchanges
import routes
import rules
import validate
from document import Document

ACCOUNT = {
    "id": "019ad65f-2a7b-7c11-8e44-5d6e7f809a1b",
    "username": "ada",
    "displayName": "Ada Lovelace",
    "role": "member",
    "disabled": False,
    "createdAt": "2026-11-30T19:47:21.123Z",
    "updatedAt": "2026-11-30T19:47:21.123Z",
}
HEADERS = {"Request-Id": "r-1", "Cache-Control": "no-store", "ETag": '"1"', "Location": "/v1/accounts/x"}
PROBLEM = {"type": "/problems/not-found", "title": "Not found", "status": 404, "instance": "r-1"}


def exchange(method, path, status, body=None, kind="application/json", headers=HEADERS, **more):
    text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
    return {
        "method": method,
        "path": path,
        "status": status,
        "contentType": kind if text else "",
        "headers": headers,
        "body": text,
    } | more


def problem(status=404, kind="not-found", **more):
    return PROBLEM | {"status": status, "type": f"/problems/{kind}"} | more


PROBLEM_KIND = "application/problem+json"
ACCOUNT_PATH = f"/v1/accounts/{ACCOUNT['id']}"
NEW_ACCOUNT = json.dumps({"username": "Ada", "displayName": "Ada Lovelace"})
CONFLICT = problem(409, "device-set-mismatch", accounts=[
    {"accountId": ACCOUNT["id"], "version": 1, "missingDevices": [], "extraDevices": [], "staleDevices": []}
])

RIGHT = {
    "an account": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT),
    "HEAD without a body": exchange("HEAD", ACCOUNT_PATH, 200) | {"contentType": "application/json"},
    "a media type with a parameter": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT, "application/json; charset=utf-8"),
    "an account made": exchange("POST", "/v1/accounts", 201, ACCOUNT, requestBody=NEW_ACCOUNT),
    "not found": exchange("GET", ACCOUNT_PATH, 404, problem(), PROBLEM_KIND),
    "an unknown path": exchange("GET", "/v2", 404, problem(), PROBLEM_KIND),
    "a refusal of the transport": exchange("GET", "/healthz", 431, problem(431, "headers-too-large"), PROBLEM_KIND),
    "a conflict of its own kind": exchange("POST", "/v1/messages", 409, CONFLICT, PROBLEM_KIND),
    "a wrong method": exchange(
        "PUT", "/healthz", 405, problem(405, "method-not-allowed"), PROBLEM_KIND, HEADERS | {"Allow": "GET, HEAD"}
    ),
    "a stream": exchange(
        "GET", "/v1/events", 200,
        'retry: 2000\n:\nevent: ready\nid: AQ\ndata: {"head":1}\n\nevent: heartbeat\ndata: {}\n\nevent: ses',
        "text/event-stream; charset=utf-8",
    ),
}

WRONG = {
    "does not list 418": exchange("GET", ACCOUNT_PATH, 418, problem(418), PROBLEM_KIND),
    "'shoeSize' was unexpected": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT | {"shoeSize": 42}),
    "None is not of type": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT | {"displayName": None}),
    "/id: ": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT | {"id": ACCOUNT["id"].upper()}),
    "/createdAt: ": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT | {"createdAt": "2026-11-30T19:47:21Z"}),
    "/role: ": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT | {"role": "king"}),
    "duplicate keys": exchange("GET", ACCOUNT_PATH, 200, '{"id":1,"id":2}'),
    "content type 'text/plain'": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT, "text/plain"),
    "no header ETag": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT, headers={"Request-Id": "r", "Cache-Control": "x"}),
    "header ETag: ": exchange("GET", ACCOUNT_PATH, 200, ACCOUNT, headers=HEADERS | {"ETag": 'W/"1"'}),
    "answered with a body": exchange("HEAD", ACCOUNT_PATH, 200, ACCOUNT),
    "where none belongs": exchange("DELETE", f"/v1/devices/{ACCOUNT['id']}", 204, "gone", "text/plain"),
    "says status 404": exchange("GET", ACCOUNT_PATH, 403, problem() | {"type": "/problems/forbidden"}, PROBLEM_KIND),
    "instance is not": exchange("GET", ACCOUNT_PATH, 404, problem(instance="other"), PROBLEM_KIND),
    "no header WWW-Authenticate": exchange("GET", "/v1/session", 401, problem(401, "unauthenticated"), PROBLEM_KIND),
    "not in the document": exchange("GET", "/v2", 200, {}),
    "the method is not": exchange("PUT", "/healthz", 200, {}),
    "405 without Allow": exchange("PUT", "/healthz", 405, problem(405, "method-not-allowed"), PROBLEM_KIND),
    "valid under any of the given": exchange("POST", "/v1/messages", 409, problem(409, "conflict"), PROBLEM_KIND),
    "unknown query parameter": exchange("GET", "/v1/accounts?colour=red", 200, {"items": []}),
    "accepted ?limit=201": exchange("GET", "/v1/accounts?limit=201", 200, {"items": []}),
    "accepted a request body with": exchange("POST", "/v1/accounts", 201, ACCOUNT, requestBody='{"username":"ada"}'),
    "event 'rumour'": exchange("GET", "/v1/events", 200, "event: rumour\ndata: {}\n\n", "text/event-stream"),
    "event ready has no id": exchange("GET", "/v1/events", 200, "event: ready\ndata: {}\n\n", "text/event-stream"),
    "a block without data": exchange("GET", "/v1/events", 200, "retry: 1\n\n", "text/event-stream"),
    "event session: ": exchange("GET", "/v1/events", 200, "event: session\ndata: {}\n\n", "text/event-stream"),
    "a page with a script": exchange("POST", "/oauth2/authorize", 401, "<script>", "text/html"),
}


class TheContractCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = Document(validate.DOCUMENT)

    def complaints(self, recorded):
        return list(exchanges.Recording(self.document).check(recorded))

    def test_accepts_the_document(self):
        self.assertEqual(rules.check(self.document), [])

    def test_accepts_what_the_document_promises(self):
        for name, recorded in RIGHT.items():
            with self.subTest(name):
                self.assertEqual(self.complaints(recorded), [])

    def test_names_what_the_document_does_not_promise(self):
        for expected, recorded in WRONG.items():
            with self.subTest(expected):
                self.assertIn(expected, "\n".join(self.complaints(recorded)))

    def test_finds_breaches_of_the_house_rules(self):
        def rename(spec):
            spec["paths"]["/healthz"]["get"]["operationId"] = "get-health"

        def inline(spec):
            spec["components"]["schemas"]["Account"]["properties"]["role"] = {"type": "object"}

        def unbounded(spec):
            spec["components"]["schemas"]["DisplayName"].pop("maxLength")

        def opened(spec):
            spec["components"]["schemas"]["NewAccount"].pop("additionalProperties")

        def enumerated(spec):
            spec["components"]["schemas"]["RoleName"]["enum"] = ["member"]

        def example(spec):
            spec["components"]["schemas"]["Account"]["example"]["username"] = "ADA"

        def orphan(spec):
            spec["components"]["schemas"]["Orphan"] = spec["components"]["schemas"]["Account"]

        def silent(spec):
            spec["components"]["responses"]["Unavailable"]["headers"].pop("Retry-After")

        def invalid(spec):
            spec["paths"]["/healthz"]["get"].pop("responses")

        table = [
            (rename, "used twice"), (inline, "inline object"), (unbounded, "no lengths"), (opened, "is closed"),
            (enumerated, "is open"), (example, "its example"), (orphan, "used nowhere"),
            (silent, "no header Retry-After"), (invalid, "specification: "),
        ]
        for change, expected in table:
            with self.subTest(expected):
                changed = copy.copy(self.document)
                changed.spec, changed._validators, changed._definitions = copy.deepcopy(self.document.spec), {}, {}
                change(changed.spec)
                changed.operations = [
                    type(each)(each.method, each.path, changed.spec["paths"][each.path][each.method])
                    for each in self.document.operations
                ]
                self.assertIn(expected, "\n".join(rules.check(changed)))

    def test_compares_routes_both_ways(self):
        served = [each.route for each in self.document.operations]
        changed = ["GET /v1/extra" if each == "GET /metrics" else each.replace("{sid}", "{session}") for each in served]
        self.assertEqual(self.compared(served), [])
        found = "\n".join(self.compared(changed))
        for expected in ["GET /v1/extra is served", "GET /metrics is in the document", "are named otherwise"]:
            self.assertIn(expected, found)

    def compared(self, lines):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "routes"
            path.write_text("\n".join(lines), encoding="utf-8")
            return routes.check(self.document, path)

    def test_reads_events_across_line_endings_and_drops_what_is_cut_off(self):
        text = "\ufeffevent: a\r\nid: 1\r\ndata: x\r\ndata:y\r\n\r\n: comment\r\rdata: z\r\revent: b\ndata: cut"
        found = [(each.name, each.data, each.id) for each in events.parse(text)]
        self.assertEqual(found, [("a", "x\ny", "1"), ("message", "", None), ("message", "z", None)])

    def test_says_which_answers_were_never_seen(self):
        recording = exchanges.Recording(self.document)
        list(recording.check(RIGHT["an account"]))
        missing = {operation.name: statuses for operation, statuses in recording.never_seen()}
        self.assertNotIn("200", missing["getAccount"])
        self.assertIn("304", missing["getAccount"])

    def test_says_which_events_were_never_seen(self):
        recording = exchanges.Recording(self.document)
        list(recording.check(RIGHT["a stream"]))
        self.assertNotIn("ready", recording.events_never_seen())
        self.assertIn("goodbye", recording.events_never_seen())


if __name__ == "__main__":
    unittest.main()
