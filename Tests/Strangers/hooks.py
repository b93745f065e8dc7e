"""What schemathesis cannot make up by itself, and what it must not take from under its own feet: the session, account and
device it calls with. What both need to know comes from `strangers.py` in the environment."""

import json
import os
import uuid

import schemathesis

SCENE = json.loads(os.environ["ENFILADE_SCENE"])
FAR = "2100-01-01T00:00:00Z"
GIVEN = set()
# Operation and path parameter that would end the run's own access.
OWN = {
    ("DELETE", "/v1/sessions/{sid}"): "sid",
    ("PATCH", "/v1/accounts/{account}"): "account",
    ("DELETE", "/v1/devices/{device}"): "device",
}


@schemathesis.hook
def before_call(context, case, kwargs):
    spare_what_the_run_needs(case)
    if case.meta is not None and case.meta.generation.mode.is_positive:
        forget_made_up_positions(case)
        if isinstance(case.body, dict):
            case.body = completed(case.method.upper(), case.path, dict(case.body))


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 200 and case.path in ("/v1/mailbox", "/v1/audit/entries"):
        GIVEN.add(response.json()["next"])


def spare_what_the_run_needs(case):
    name = OWN.get((case.method.upper(), case.path))
    if name and str((case.path_parameters or {}).get(name)).lower() == SCENE[name]:
        case.path_parameters[name] = str(uuid.uuid4())


def forget_made_up_positions(case):
    """Positions are opaque: one that the server did not give is refused, whatever its form."""
    for place, name in ((case.query, "after"), (case.query, "lastEventId"), (case.headers, "Last-Event-ID")):
        if place and name in place and place[name] not in GIVEN:
            del place[name]


def completed(method, path, body):
    """The same body with what the schema cannot say: how its fields depend on each other and on what is there."""
    match method, path:
        case "POST", "/v1/devices":
            return body | SCENE["keys"]
        case "POST", "/v1/messages":
            body["id"] = str(uuid.uuid4())
            body["recipients"] = SCENE["recipients"] or body["recipients"]
            if "expiresAt" in body:
                body["expiresAt"] = FAR
        case "POST", "/v1/mailbox/acks":
            body["through"] = min(body["through"], SCENE.get("head", 0))
        case "POST", "/v1/config/reports":
            body["revision"] = min(body["revision"], 1)
            if body["state"] != "rejected":
                body.pop("reasons", None)
        case "PUT", "/v1/apps/{app}/config":
            # OpenAPI 3.0 cannot bound the names of properties.
            body["values"] = {key: value for key, value in body["values"].items() if is_key(key) and value is not None}
        case ("POST", "/v1/apps") | ("PUT", "/v1/apps/{app}"):
            body["kind"] = "app"
            body.pop("parent", None)
            if "universalLinks" in body:
                body["universalLinks"] = ["https://example.com/m/*"]
        case "POST", "/oauth2/revoke":
            # The form is open, and schemathesis repeats what it makes up; that is refused.
            return {key: value for key, value in body.items() if isinstance(value, str)}
    return body


def is_key(text):
    return 1 <= len(text) <= 128 and all(character >= " " and character != "\x7f" for character in text)
