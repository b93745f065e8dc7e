"""What clients do, through each proxy: over HTTP/2, from an address of their own."""

import json
import os
import subprocess
import uuid
from contextlib import contextmanager

import pytest
from conftest import CLIENT, run_interop
from httpx_sse import EventSource
from processes import until

# Sooner than the first heartbeat: what arrives by then was not waiting in a proxy for more to come.
AT_ONCE = 10


@contextmanager
def following(caller, last_id=None, read=AT_ONCE):
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    with caller.http.stream("GET", "/v1/events", headers=headers, timeout=read) as response:
        assert response.status_code == 200, response.read()
        yield response, EventSource(response).iter_sse()


def next_of(events, name):
    return next(event for event in events if event.event == name)


def line_about(nodes, request_id):
    def found():
        return next(filter(None, (node.request(request_id) for node in nodes)), None)

    until(lambda: found() is not None, f"the log's line about {request_id}")
    return found()


def test_a_message_is_sent_arrives_on_a_stream_and_is_acknowledged_all_over_http2(member):
    sender, receiver = member(), member()
    with following(receiver) as (response, events):
        assert response.http_version == "HTTP/2"
        assert next_of(events, "ready")
        sent = sender.send(receiver.account, "through a proxy")
        item = json.loads(next_of(events, "message").data)
    assert item["id"] == sent
    assert receiver.opened(item) == "through a proxy"
    answer = receiver.call("POST", "/v1/mailbox/acks", 200, json={"through": item["seq"]})
    assert answer.http_version == "HTTP/2"


def test_published_configuration_arrives_at_once(organisation, member):
    admin, app = organisation
    device = member()
    with following(device) as (_, events):
        next_of(events, "ready")
        published = admin.publish(app, {"colour": uuid.uuid4().hex})
        assert json.loads(next_of(events, "config").data)["revision"] == published["revision"]


@pytest.mark.parametrize("name", ["X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-IP"])
def test_the_log_names_the_client_whatever_it_claims_to_be(nodes, member, name):
    claims = "for=203.0.113.9" if name == "Forwarded" else "203.0.113.9"
    answer = member().get("/v1/session", headers={name: claims})
    line = line_about(nodes, answer.headers["Request-Id"])
    assert (line["peer"], line["client"]) == ("127.0.0.1", CLIENT)


def test_a_body_of_a_mebibyte_arrives_whole(nodes, member):
    body = b'{"x": "' + b"y" * ((1 << 20) - 9) + b'"}'
    answer = member().http.post("/v1/messages", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert line_about(nodes, answer.headers["Request-Id"])["bytesIn"] == 1 << 20


@pytest.mark.parametrize(("path", "size"), [("/v1/messages", (1 << 20) + 1), ("/v1/devices", 100_000)])
def test_a_body_over_the_limit_is_refused_as_such(site, member, path, size):
    assert refusal(site, member(), path, size) == ["2", "413", "application/problem+json"]


def test_a_body_that_is_far_too_large_is_refused(site, member):
    # Over HTTP/1.1, where curl asks before it sends. Over HTTP/2 proxies may reset the stream behind their answer, and
    # this curl then forgets the answer.
    assert refusal(site, member(), "/v1/messages", 3 << 20, "--http1.1")[:2] == ["1.1", "413"]


def refusal(site, session, path, size, version="--http2"):
    """By curl: httpx goes on waiting for leave to send when it was told over HTTP/2 that nobody wants the rest."""
    bearer = session.authorization["Authorization"]
    command = ["curl", "--silent", "--show-error", version, "--max-time", "20", "--cacert", os.environ["SSL_CERT_FILE"]]
    command += ["--header", f"Authorization: {bearer}", "--header", "Content-Type: application/json"]
    command += ["--data-binary", "@-", "--output", os.devnull]
    command += ["--write-out", "%{http_version} %{http_code} %header{content-type}", site.url + path]
    outcome = subprocess.run(command, input=b"y" * size, capture_output=True, check=False)
    assert outcome.returncode in (0, 92), outcome.stderr  # 92: a stream that was reset.
    return outcome.stdout.decode().split()


def test_a_head_at_the_limit_passes_and_one_far_over_it_does_not(member):
    session = member()
    assert session.get("/v1/session", headers={"X-Padding": "p" * 7_000}).status_code == 200
    assert session.http.get("/v1/session", headers={"X-Padding": "p" * 12_000}).status_code in (400, 431)


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/healthz"])
def test_what_is_for_operators_is_not_for_the_world(member, path):
    headers = {"Authorization": "Bearer the token of the metrics"}
    assert member().http.get(path, headers=headers).status_code == 404


def test_clients_are_told_to_stay_with_tls(member):
    answer = member().get("/v1/session")
    assert "max-age" in answer.headers["Strict-Transport-Security"]


@pytest.mark.skipif(not os.environ.get("ENFILADE_TEST_FULL"), reason="only at length")
def test_third_party_clients_find_nothing_changed(proxy, site):
    outcome = run_interop(site)
    assert outcome.returncode == 0, outcome.stdout[-4000:]
