"""One app on one device: it signs in, enrols, follows its stream, opens and acknowledges messages, applies
configuration. Written against openapi/openapi.yaml; what happens by itself is told as facts."""

import threading
import time
import uuid
from collections.abc import Callable

from events import Event, Stream
from keys import Keys
from login import Session
from say import Wrong, check, check_equal
from secrets_used import Secrets
from server import Server

SCOPES = "openid profile offline_access mailbox config"


class Client:
    def __init__(self, server: Server, keys: Keys, kept: Secrets, app: str, tell: Callable[[dict], None]) -> None:
        self._server = server
        self._keys = keys
        self._kept = kept
        self._tell = tell
        self._session = Session(server, app, kept)
        self._device_id = ""
        self._sent: tuple[dict, dict] = {}, {}
        # Device lists by account, each with its tag.
        self._lists: dict[str, tuple[str, dict]] = {}
        self._stream: Stream | None = None
        self._reader: threading.Thread | None = None
        self._last_id: str | None = None
        self._acknowledges = True
        self._seen = 0
        self._revision = 0
        self._values: dict = {}

    # Signing in

    def mistype(self, username: str, password: str) -> dict:
        return {"status": self._session.mistype(username, password, SCOPES)}

    def sign_in(self, username: str, password: str, scopes: str = SCOPES) -> dict:
        self._session.sign_in(username, password, scopes)
        seen = self._server.get("/v1/session", self._token)
        check_equal(seen["account"]["username"], username, "the username of the session")
        check_equal(seen["app"]["id"], self._session.app, "the app of the session")
        check_equal(seen["sid"], self._session.sid, "the session of the token")
        check("device" not in seen, "a new session is bound to a device already")
        return {
            "accountId": self._session.account_id, "sid": self._session.sid,
            "name": self._session.name, "scopes": self._session.scopes,
        }

    def refresh(self) -> dict:
        self._session.refresh()
        return {}

    def sign_out(self) -> dict:
        self._session.revoke()
        return {}

    def is_signed_out(self) -> dict:
        """Access and refresh token are both refused; the first at once or within two seconds."""
        deadline = time.monotonic() + 2
        while True:
            answer = self._server.call("GET", "/v1/session", (200, 401), self._token)
            if answer.status_code == 401 or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        check_equal(answer.status_code, 401, "the status of a request two seconds after the session ended")
        check(self._session.is_refused(self._session.refresh_token), "the refresh token still works")
        return {"problem": answer.json()["type"]}

    # The device

    def enrol(self, name: str, platform: str) -> dict:
        """Answers 201 for a new device and 200 for one that this account already has."""
        proof = self._keys.prove(self._server.issuer, self._session.account_id, self._session.sid)
        answer = self._server.post("/v1/devices", self._token, self._enrolment(name, platform, proof), 200, 201)
        device = answer.json()
        check_equal(device["identityKey"], self._keys.identity_key, "the identity key of the enrolled device")
        check_equal(device["agreementKey"], self._keys.agreement_key, "the agreement key of the enrolled device")
        check_equal(device["accountId"], self._session.account_id, "the account of the enrolled device")
        check(device["current"], "the session is not bound to the device it enrolled")
        self._device_id = device["id"]
        return {"status": answer.status_code, "device": device}

    def enrol_without_the_key(self, name: str, platform: str) -> dict:
        """With the proof of other keys; answers the field at fault."""
        proof = Keys(self._kept).prove(self._server.issuer, self._session.account_id, self._session.sid)
        answer = self._server.post("/v1/devices", self._token, self._enrolment(name, platform, proof), 400)
        return {"fields": [fault["pointer"] for fault in answer.json()["errors"]]}

    def remove_device(self, device_id: str) -> dict:
        self._server.call("DELETE", f"/v1/devices/{device_id}", 204, self._token)
        return {"devices": [device["id"] for device in self._server.get("/v1/devices", self._token)["items"]]}

    def _enrolment(self, name: str, platform: str, proof: str) -> dict:
        return {
            "name": name, "platform": platform, "appVersion": "1.0.0", "signature": proof,
            "identityKey": self._keys.identity_key, "agreementKey": self._keys.agreement_key,
        }

    # Messages out

    def look_up(self, username: str) -> dict:
        entry = self._server.get("/v1/directory", self._token, params={"username": username})
        self._read_list(entry["accountId"])
        return entry | {"devices": self._lists[entry["accountId"]][1]["devices"]}

    def send(self, account_id: str, text: str) -> dict:
        """To all devices of the account and the sender's own others; asks for the devices again when they changed."""
        self._kept.add("message text", text)
        message_id = str(uuid.uuid4())
        body = self._message(message_id, account_id, text)
        began = time.monotonic()
        answer = self._server.post("/v1/messages", self._token, body, 201, 409)
        refused = None
        if answer.status_code == 409:
            refused = answer.json()
            check_equal(refused["type"], "/problems/device-set-mismatch", "the problem of the refused message")
            for account in refused["accounts"]:
                self._read_list(account["accountId"])
            body = self._message(message_id, account_id, text)
            began = time.monotonic()
            answer = self._server.post("/v1/messages", self._token, body, 201)
        envelopes = {e["deviceId"]: e["ciphertext"] for r in body["recipients"] for e in r["envelopes"]}
        check_equal(sorted(answer.json()["accepted"]), sorted(envelopes), "the devices a message was accepted for")
        self._sent = body, answer.json()
        return {"id": message_id, "at": began, "envelopes": envelopes, "refused": refused}

    def send_again(self) -> dict:
        """The last message once more, as after a lost answer."""
        body, first = self._sent
        answer = self._server.post("/v1/messages", self._token, body, 200).json()
        check_equal(answer, first, "the answer to a repeated message")
        return {}

    def _message(self, message_id: str, account_id: str, text: str) -> dict:
        own = self._session.account_id
        recipients = [self._recipient(a, message_id, text) for a in dict.fromkeys((account_id, own))]
        return {"id": message_id, "recipients": [r for r in recipients if r["accountId"] != own or r["envelopes"]]}

    def _recipient(self, account_id: str, message_id: str, text: str) -> dict:
        devices = self._device_list(account_id)
        envelopes = [
            {
                "deviceId": device["id"], "keyVersion": device["keyVersion"],
                "ciphertext": self._keys.seal(text, message_id, self._device_id, device),
            }
            for device in devices["devices"] if device["id"] != self._device_id
        ]
        for envelope in envelopes:
            self._kept.add("ciphertext", envelope["ciphertext"])
        return {"accountId": account_id, "deviceListVersion": devices["version"], "envelopes": envelopes}

    def _device_list(self, account_id: str) -> dict:
        if account_id not in self._lists:
            self._read_list(account_id)
        return self._lists[account_id][1]

    def _read_list(self, account_id: str) -> None:
        held = self._lists.get(account_id)
        answer = self._server.call(
            "GET", f"/v1/accounts/{account_id}/devices", (200, 304), self._token,
            headers={"If-None-Match": held[0]} if held else {},
        )
        if answer.status_code == 200:
            self._lists[account_id] = answer.headers["ETag"], answer.json()

    # The stream

    def listen(self) -> dict:
        """Opens the stream, from the last event id when there is one."""
        self._stream = Stream(self._server, self._token, self._last_id)
        self._reader = threading.Thread(target=self._follow, args=(self._stream,), daemon=True)
        self._reader.start()
        return {"resumes": self._last_id is not None}

    def lose_network(self) -> dict:
        check(self._stream is not None and self._reader is not None, "there is no stream to cut")
        self._stream.cut()
        self._reader.join(timeout=10)
        check(not self._reader.is_alive(), "the stream did not notice that it was cut")
        return {"seen": self._seen}

    def _follow(self, stream: Stream) -> None:
        try:
            for event in stream.events():
                self._take(event, time.monotonic())
                self._last_id = event.last_id or self._last_id
            self._say("offline" if stream.is_cut else "stream ended", retry=stream.retry)
        except Wrong as wrong:
            self._say("fault", words=str(wrong))
        except Exception as error:  # A reader must not end in silence: the story would only see a deadline.
            self._say("fault", words=f"{type(error).__name__}: {error}")

    def _take(self, event: Event, at: float) -> None:
        match event.name:
            case "message":
                self._take_message(event.data, at)
            case "config":
                self._take_config(event.data, at)
            case "ready" | "device" | "session" | "gap" | "goodbye":
                self._say(event.name, **event.data)

    def _take_message(self, item: dict, at: float) -> None:
        if item["seq"] <= self._seen:
            return self._say("duplicate", seq=item["seq"])
        check_equal(item["seq"], self._seen + 1, "the seq of the next message")
        sender = self._find_sender(item["from"])
        text = self._keys.open(item["ciphertext"], item["id"], sender, self._device_id)
        self._kept.add("ciphertext", item["ciphertext"])
        self._seen = item["seq"]
        self._say(
            "message", id=item["id"], seq=item["seq"], sender=item["from"], text=text, at=at,
            acked=self.acknowledge()["acked"] if self._acknowledges else None,
        )

    def _find_sender(self, sender: dict) -> dict:
        for _ in range(2):
            for device in self._device_list(sender["accountId"])["devices"]:
                if device["id"] == sender["deviceId"]:
                    return device
            self._read_list(sender["accountId"])
        raise Wrong(f"the sending device {sender['deviceId']} is not listed")

    def acknowledge(self) -> dict:
        answer = self._server.post("/v1/mailbox/acks", self._token, {"through": self._seen}, 200).json()
        check_equal(answer["acked"], self._seen, "the acknowledged position")
        return answer

    def leave_unacknowledged(self) -> dict:
        self._acknowledges = False
        return {}

    def read_mailbox(self) -> dict:
        return self._server.get("/v1/mailbox", self._token)

    # Configuration

    def _take_config(self, patch: dict, at: float) -> None:
        """Applies a patch to the revision it is for, compares with what the server has, reports."""
        if patch["from"] != self._revision or patch.get("fetch"):
            raise Wrong(f"a patch from revision {patch['from']} came while {self._revision} is held")
        self._values = {k: v for k, v in self._values.items() if k not in patch.get("unset", [])}
        self._values |= patch.get("set", {})
        self._revision = patch["revision"]
        whole = self._server.get("/v1/config", self._token, params={"minRevision": self._revision})
        check_equal(whole["revision"], self._revision, "the revision of the configuration")
        check_equal(self._values, whole["values"], "the values after the patch")
        report = {"revision": self._revision, "state": "applied"}
        self._server.post("/v1/config/reports", self._token, report, 204)
        self._say(
            "config", revision=self._revision, values=self._values, at=at,
            set=sorted(patch.get("set", {})), unset=sorted(patch.get("unset", [])),
        )

    @property
    def _token(self) -> str:
        return self._session.access_token

    def _say(self, kind: str, **facts: object) -> None:
        self._tell({"app": self._session.app, "kind": kind} | facts)
