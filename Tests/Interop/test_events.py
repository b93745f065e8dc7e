"""httpx-sse follows the event stream while members send, administrators publish and sessions end."""

import json
import time
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import httpx
import pytest
from httpx_sse import connect_sse
from suite import TIMEOUT


class Stream:
    """What comes over one connection."""

    def __init__(self, source):
        self.response = source.response
        self.events = source.iter_sse()
        self.last_id = None

    def next(self, *names):
        """The next event of one of these names; others are passed over."""
        for event in self.events:
            self.last_id = event.id or self.last_id
            assert event.data, "a block without data reached the client as an event"
            if event.event in names:
                return event.event, json.loads(event.data)
        raise AssertionError(f"the stream ended without {' or '.join(names)}")


@contextmanager
def following(caller, last_id=None):
    headers = caller.authorization | ({"Last-Event-ID": last_id} if last_id else {})
    base = str(caller.http.base_url)
    with httpx.Client(base_url=base, timeout=TIMEOUT) as client:
        with connect_sse(client, "GET", "/v1/events", headers=headers) as source:
            assert source.response.status_code == 200, source.response.read()
            yield Stream(source)


def test_a_new_stream_is_ready_at_once_and_says_how_to_be_read(member):
    with following(member()) as stream:
        name, ready = stream.next("ready", "message")
        assert name == "ready" and ready["head"] == 0
        assert stream.response.headers["X-Accel-Buffering"] == "no"
        assert "no-store" in stream.response.headers["Cache-Control"]
        assert stream.last_id


def test_a_message_arrives_can_be_opened_and_acknowledged(member):
    sender, receiver = member(), member()
    with following(receiver) as stream:
        stream.next("ready")
        sent = sender.send(receiver.account, "hello")
        _, item = stream.next("message")
    assert (item["id"], item["seq"], item["kind"]) == (sent, 1, "message")
    assert item["from"] == {"accountId": sender.account, "deviceId": sender.device}
    assert receiver.opened(item) == "hello"
    acked = receiver.call("POST", "/v1/mailbox/acks", 200, json={"through": item["seq"]}).json()
    assert acked == {"acked": 1}
    assert receiver.get("/v1/mailbox").json()["items"] == []


def test_every_device_of_the_receiver_gets_its_own_envelope(admin, member):
    sender, person = member(), admin.create_account()
    phone, mac = member(person), member(person)
    sender.send(phone.account, "to both")
    for device in (phone, mac):
        with following(device) as stream:
            assert device.opened(stream.next("message")[1]) == "to both"


def test_resuming_brings_exactly_what_was_missed(member):
    sender, receiver = member(), member()
    with following(receiver) as stream:
        stream.next("ready")
        seen = sender.send(receiver.account, "seen")
        assert stream.next("message")[1]["id"] == seen
        last_id = stream.last_id
    missed = [sender.send(receiver.account, f"missed {number}") for number in range(3)]
    with following(receiver, last_id) as stream:
        assert [stream.next("ready", "message")[1].get("id") for _ in missed] == missed
        name, ready = stream.next("ready", "message")
        assert name == "ready" and ready["head"] == 1 + len(missed)


def test_a_large_ciphertext_is_announced_and_fetched(member):
    sender, receiver = member(), member()
    with following(receiver) as stream:
        stream.next("ready")
        sender.send(receiver.account, "x" * 20_000)
        _, item = stream.next("message")
    assert item["fetch"] is True and "ciphertext" not in item
    page = receiver.get("/v1/mailbox", params={"after": item["seq"] - 1, "limit": 1}).json()
    assert receiver.opened(page["items"][0]) == "x" * 20_000


def test_a_message_past_its_time_is_named_as_a_gap(member):
    sender, receiver = member(), member()
    end = datetime.now(timezone.utc) + timedelta(seconds=1)
    sender.send(receiver.account, "soon stale", expiresAt=end.isoformat())
    kept = sender.send(receiver.account, "still good")
    deadline = time.monotonic() + 20
    page = receiver.get("/v1/mailbox").json()
    while len(page["items"]) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
        page = receiver.get("/v1/mailbox").json()
    assert [item["id"] for item in page["items"]] == [kept]
    assert page["gaps"] == [{"from": 1, "to": 1, "reason": "expired"}]
    with following(receiver) as stream:
        assert stream.next("gap", "message") == ("gap", page["gaps"][0])
        assert stream.next("gap", "message")[1]["id"] == kept


def test_another_device_of_the_same_person_is_announced(admin, member):
    person = admin.create_account()
    phone = member(person)
    with following(phone) as stream:
        stream.next("ready")
        member(person)
        _, change = stream.next("device")
    assert change["accountId"] == phone.account
    assert change["version"] == phone.get(f"/v1/accounts/{phone.account}/devices").json()["version"]


def test_a_published_configuration_arrives_as_a_change_and_can_be_reported(admin, app, member):
    device = member()
    admin.publish(app, {"colour": "red", "size": 1})
    with following(device) as stream:
        _, ready = stream.next("ready")
        published = admin.publish(app, {"colour": "blue"})
        _, change = stream.next("config")
    assert change["from"] == ready["revision"] and change["revision"] == published["revision"]
    assert change["set"] == {"colour": "blue"} and change["unset"] == ["size"]
    device.call("POST", "/v1/config/reports", 204, json={"revision": change["revision"], "state": "applied"})
    reports = admin.get(f"/v1/apps/{app}/config/reports", params={"limit": 200}).json()["items"]
    mine = [report for report in reports if report["deviceId"] == device.device]
    assert [(report["revision"], report["state"]) for report in mine] == [(change["revision"], "applied")]


def test_resuming_brings_one_combined_change_of_configuration(admin, app, member):
    device = member()
    start = admin.publish(app, {"a": 1, "b": 1})["revision"]
    device.call("POST", "/v1/config/reports", 204, json={"revision": start, "state": "applied"})
    with following(device) as stream:
        stream.next("ready")
        last_id = stream.last_id
    admin.publish(app, {"a": 2, "b": 1, "c": 1})
    end = admin.publish(app, {"a": 3, "b": 1})["revision"]
    with following(device, last_id) as stream:
        name, change = stream.next("config", "ready")
        assert name == "config"
        assert (change["from"], change["revision"], change["set"]) == (start, end, {"a": 3})
        assert "unset" not in change
        assert stream.next("config", "ready")[0] == "ready"


def test_removing_the_device_ends_its_stream(admin, member):
    device = member()
    with following(device) as stream:
        stream.next("ready")
        admin.call("DELETE", f"/v1/devices/{device.device}", 204)
        assert stream.next("session")[1] == {"state": "ended"}
        with pytest.raises(AssertionError, match="the stream ended"):
            stream.next("message", "session", "heartbeat")


def test_a_position_of_another_device_is_refused(member):
    first, second = member(), member()
    with following(first) as stream:
        stream.next("ready")
        last_id = stream.last_id
    answer = second.http.get("/v1/events", headers={"Last-Event-ID": last_id, "Accept": "text/event-stream"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "Last-Event-ID"
