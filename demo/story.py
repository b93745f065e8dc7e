"""Tells the whole story against a running server and checks every step of it.

bin/demo starts it with ENFILADE_URL and ENFILADE_ADMIN_PASSWORD_FILE. With ENFILADE_DATABASE_URL it also looks at what
the database holds, with ENFILADE_SERVER_LOG (a file) at what the log holds.
"""

import base64
import os
import secrets
import statistics
import sys
import time
import traceback
from pathlib import Path

import evidence
from acts import Acts
from administrator import Administrator
from device import Device
from say import Transcript, Wrong, check, check_equal, milliseconds, short
from secrets_used import Secrets
from server import Server

FIRST_VALUES = {"banner": "Welcome to the pilot", "region": "eu-central", "sync_minutes": 30}
NEXT_VALUES = {"allowed_models": ["small", "large"], "region": "eu-central", "sync_minutes": 15}


class Person:
    def __init__(self, name: str, run: str) -> None:
        self.name = name
        self.username = f"{name.split()[0].lower()}-{run}"
        self.password = secrets.token_urlsafe(18)
        self.id = ""


class Story:
    def __init__(self, url: str, password: str, transcript: Transcript) -> None:
        self.run = secrets.token_hex(3)
        self.transcript = transcript
        self.url = url
        self.password = password
        self.phone = Device(url, "Ada's iPhone", "iOS")
        self.mac = Device(url, "Ada's Mac", "macOS")
        self.bens = Device(url, "Ben's iPhone", "iOS")
        self.kept = Secrets()
        self.server = Server(url)
        self.admin = Administrator(self.server, self.kept)
        self.messenger = f"messenger-{self.run}"
        self.expenses = f"expenses-{self.run}"
        self.ada = Person("Ada Lovelace", self.run)
        self.ben = Person("Ben Okri", self.run)
        self.devices = {self.phone: self.ada, self.mac: self.ada, self.bens: self.ben}
        self.identities: dict[str, str] = {}
        self.acts = Acts()
        self.latencies: list[float] = []

    def tell(self) -> None:
        began = time.monotonic()
        capabilities = self.server.get("/v1/capabilities")
        self.transcript.title(f"Enfilade {capabilities['version']} at {self.url}, run {self.run}")
        self.begin()
        self.sign_in()
        self.enrol()
        self.listen()
        self.exchange_messages()
        self.miss_and_catch_up()
        self.push_configuration()
        self.lose_a_device()
        self.show_the_row()
        self.read_the_audit_log()
        self.search_the_log()
        middle, worst = statistics.median(self.latencies), max(self.latencies)
        self.transcript.end(
            f"Everything was as it should be, in {time.monotonic() - began:.1f} s. From send to arrival of "
            f"{len(self.latencies)} live deliveries: median {milliseconds(middle)}, longest {milliseconds(worst)}."
        )

    # The chapters

    def begin(self) -> None:
        self.transcript.chapter("An administrator registers two apps and creates two people")
        session = self.admin.sign_in(self.password)
        self.since = session["createdAt"]
        self.acts.administrator(self.admin.session)
        self.fact("admin", "signs in", f"authorization code with PKCE; {' '.join(self.admin.session.scopes)}")
        scopes = ["openid", "profile", "offline_access", "mailbox", "config"]
        for app, name, its in (
            (self.messenger, "Messenger", scopes),
            (self.expenses, "Expenses", [scope for scope in scopes if scope != "mailbox"]),
        ):
            self.admin.register_app(app, name, its)
            self.acts.names[app] = name
            self.fact("admin", f"registers {name}", f"{app}; {' '.join(its)}")
        for person in (self.ada, self.ben):
            person.id = self.admin.create_person(person.username, person.name, person.password)["id"]
            self.acts.names[person.id] = person.name.split()[0]
            self.fact("admin", f"creates {person.name}", f"{person.username}; account {short(person.id)}")
        current, tag = self.admin.read_configuration(self.messenger)
        check_equal((current["revision"], tag), (0, '"0"'), "revision and tag of a configuration never published")
        done = self.admin.publish(self.messenger, FIRST_VALUES, "First settings for the pilot", tag)
        check_equal(done["revision"], 1, "the first revision")
        self.fact("admin", "publishes Messenger's settings", f"revision 1; {', '.join(FIRST_VALUES)}")

    def sign_in(self) -> None:
        self.transcript.chapter("Each person signs in on devices: three client processes")
        refused = self.bens.ask(self.messenger, "mistype", self.ben.username, secrets.token_urlsafe(18))
        self.fact("Ben's iPhone", "mistypes the password", f"refused: {refused['status']} and the page again")
        for device, person in self.devices.items():
            seen = self.sign_in_to(device, person, self.messenger)
            self.fact(device.name, "signs in to Messenger", f"process {device.pid}; {' '.join(seen['scopes'])}")
        without = "openid profile offline_access config"
        seen = self.sign_in_to(self.phone, self.ada, self.expenses, without)
        self.fact("Ada's iPhone", "signs in to Expenses too", f"same process; {' '.join(seen['scopes'])}")

    def enrol(self) -> None:
        self.transcript.chapter("Each device enrols with keys it made itself")
        refused = self.bens.ask(self.messenger, "enrol_without_the_key", self.bens.name, self.bens.platform)
        check_equal(refused["fields"], ["/signature"], "the field named for a proof by another key")
        self.fact("Ben's iPhone", "enrols with another key's proof", "refused: 400 /signature")
        for device in self.devices:
            enrolled = device.ask(self.messenger, "enrol", device.name, device.platform)
            check_equal(enrolled["status"], 201, f"the status of enrolling {device.name}")
            device.id = enrolled["device"]["id"]
            self.acts.names[device.id] = device.name
            self.identities[device.id] = enrolled["device"]["identityKey"]
            self.fact(device.name, "enrols", f"device {short(device.id)}; ed25519:{self.identities[device.id][:12]}…")
        again = self.phone.ask(self.expenses, "enrol", self.phone.name, self.phone.platform)
        check_equal(again["status"], 200, "the status of enrolling the same keys for another app")
        check_equal(again["device"]["id"], self.phone.id, "the device that the same keys enrol")
        check_equal(sorted(again["device"]["apps"]), sorted([self.messenger, self.expenses]), "the apps of the device")
        self.fact("Ada's iPhone", "enrols in Expenses with its keys", "200: the same device, now with two apps")

    def listen(self) -> None:
        self.transcript.chapter("Each opens its event stream and is brought up to date")
        for device in self.devices:
            device.ask(self.messenger, "listen")
        self.phone.ask(self.expenses, "listen")
        for device in self.devices:
            applied = device.expect(self.messenger, "config")
            check_equal((applied["revision"], applied["values"]), (1, FIRST_VALUES), f"the settings on {device.name}")
            ready = device.expect(self.messenger, "ready")
            check_equal((ready["head"], ready["revision"]), (0, 1), f"head and revision of {device.name} when ready")
            self.fact(device.name, "applies revision 1, is ready", "mailbox at 0; reported as applied")
        ready = self.phone.expect(self.expenses, "ready")
        check("head" not in ready, "Expenses has no scope mailbox and yet a mailbox position")
        check_equal(ready["revision"], 0, "the revision of Expenses")
        self.fact("Ada's iPhone", "Expenses is ready", "no mailbox without its scope; nothing published")

    def exchange_messages(self) -> None:
        self.transcript.chapter("They write to each other, end-to-end encrypted: one envelope for each device")
        found = self.phone.ask(self.messenger, "look_up", self.ben.username)
        check_equal(found["accountId"], self.ben.id, "the account that the directory finds")
        self.fact("Ada's iPhone", "looks Ben up", f"{found['displayName']}; {self.check_keys(found, self.bens)}")
        found = self.bens.ask(self.messenger, "look_up", self.ada.username)
        keys = self.check_keys(found, self.phone, self.mac)
        self.fact("Ben's iPhone", "looks Ada up", f"{found['displayName']}; {keys}")
        self.deliver(self.phone, "Hello Ben. Only you can read this.", self.bens, self.mac)
        self.deliver(self.bens, "Hello Ada, on both devices. Grüße!", self.phone, self.mac)
        self.bens.ask(self.messenger, "send_again")
        self.fact("Ben's iPhone", "repeats it, as after a lost answer", "200, the first answer; delivered only once")
        self.deliver(self.mac, "From my Mac, to you and my iPhone.", self.bens, self.phone)

    def miss_and_catch_up(self) -> None:
        self.transcript.chapter("A device goes offline, misses messages, comes back and gets exactly those")
        seen = self.mac.ask(self.messenger, "lose_network")["seen"]
        self.mac.expect(self.messenger, "offline")
        self.fact("Ada's Mac", "loses its network", f"after seq {seen}")
        sent = [
            self.deliver(self.bens, "Are you there?", self.phone),
            self.deliver(self.phone, "Yes, on the train.", self.bens),
            self.deliver(self.bens, "The draft is in the shared folder.", self.phone),
        ]
        self.mac.ask(self.messenger, "refresh")
        check(self.mac.ask(self.messenger, "listen")["resumes"], "the Mac has no event id to resume from")
        self.fact("Ada's Mac", "is back, with Last-Event-ID", "a new access token; the refresh token rotated")
        self.mac.expect(self.messenger, "ready")
        missed = self.mac.heard(self.messenger)
        check_equal(
            [(fact["kind"], fact.get("id"), fact.get("seq"), fact.get("text")) for fact in missed],
            [("message", m["id"], seen + 1 + place, m["text"]) for place, m in enumerate(sent)],
            "what came before the stream was ready",
        )
        for fact in missed:
            check_equal(fact["acked"], fact["seq"], "the acknowledged position")
            self.fact("Ada's Mac", f"“{fact['text']}”", f"seq {fact['seq']}, missed; opened and acknowledged")
        self.fact("Ada's Mac", "is ready", f"exactly the {len(missed)} it had missed, in order")

    def push_configuration(self) -> None:
        self.transcript.chapter("The administrator publishes configuration, the devices apply it")
        current, tag = self.admin.read_configuration(self.messenger)
        check_equal(current["values"], FIRST_VALUES, "the configuration before")
        reason = "Shorter interval, banner retired"
        draft = self.admin.publish(self.messenger, NEXT_VALUES, reason, tag, validate_only=True)
        self.check_publication(draft, validate_only=True)
        self.fact("admin", "asks what would change", "validateOnly: revision 2")
        for change in draft["changes"]:
            self.fact("", f"  {change['change']} {change['key']}", difference(change))
        check_equal(self.admin.read_configuration(self.messenger)[1], tag, "the tag after validateOnly")
        began = time.monotonic()
        self.check_publication(self.admin.publish(self.messenger, NEXT_VALUES, reason, tag), validate_only=False)
        self.fact("admin", "publishes it", f"revision 2: {reason}")
        for device in self.devices:
            applied = device.expect(self.messenger, "config")
            check_equal((applied["revision"], applied["values"]), (2, NEXT_VALUES), f"the settings on {device.name}")
            check_equal(applied["set"], ["allowed_models", "sync_minutes"], "the keys set by the patch")
            check_equal(applied["unset"], ["banner"], "the keys unset by the patch")
            after = milliseconds(applied["at"] - began)
            self.fact(device.name, "applies revision 2", f"over SSE after {after}; reported as applied")
        self.check_reports()
        check_equal(self.phone.heard(self.expenses), [], "what Expenses heard of Messenger's configuration")

    def lose_a_device(self) -> None:
        self.transcript.chapter("A device is removed and its streams end")
        left = self.mac.ask(self.messenger, "remove_device", self.phone.id)["devices"]
        check_equal(left, [self.mac.id], "the devices Ada has left")
        self.fact("Ada's Mac", "removes Ada's iPhone", f"device {short(self.phone.id)}; the key is spent")
        for app in (self.messenger, self.expenses):
            check_equal(self.phone.expect(app, "session")["state"], "ended", "the state of the session")
            self.phone.expect(app, "stream ended")
            problem = self.phone.ask(app, "is_signed_out")["problem"]
            check_equal(problem, "/problems/session-ended", "the problem a removed device gets")
            self.fact("Ada's iPhone", f"{self.acts.names[app]}: session ended", f"stream closed; then 401 {problem}")
        changed = self.mac.expect(self.messenger, "device")
        check_equal(changed["accountId"], self.ada.id, "the account whose devices changed")
        self.list_version = changed["version"]
        self.fact("Ada's Mac", "hears that the devices changed", f"device list version {self.list_version}")

    def show_the_row(self) -> None:
        self.transcript.chapter("What the database holds of a message")
        self.mac.ask(self.messenger, "leave_unacknowledged")
        text = "Meet me at the old mill."
        sent = self.deliver(self.bens, text, self.mac, stale=self.phone)
        stored = base64.b64decode(sent["envelopes"][self.mac.id])
        row = evidence.read_row(sent["id"], self.mac.id)
        if row is None:
            self.fact("database", "cannot be read from here", "ENFILADE_DATABASE_URL is not set; asking the server")
            self.show_the_item(sent, stored)
        else:
            for column, value in row.items():
                self.fact("mailbox_item" if column == "seq" else "", column, cut(value) if value else "NULL")
            check_equal(row["ciphertext"], f"\\x{stored.hex()}", "the ciphertext in the database")
            written = "\t".join(row.values())
            for spelling in (text, text.encode().hex(), base64.b64encode(text.encode()).decode()):
                check(spelling not in written, "the text of the message is in the database")
            sizes = f"{len(stored)} bytes for a text of {len(text)}"
            self.fact("", "is what Ben's iPhone sealed", f"{sizes}; the text is in no column")
        acked = self.mac.ask(self.messenger, "acknowledge")["acked"]
        self.fact("Ada's Mac", "acknowledges it", f"through {acked}")

    def show_the_item(self, sent: dict, stored: bytes) -> None:
        items = self.mac.ask(self.messenger, "read_mailbox")["items"]
        check_equal([item["id"] for item in items], [sent["id"]], "the messages that wait unacknowledged")
        check_equal(base64.b64decode(items[0]["ciphertext"]), stored, "the ciphertext in the mailbox")
        self.fact("mailbox", "ciphertext", cut(items[0]["ciphertext"]))

    def read_the_audit_log(self) -> None:
        for device in (self.mac, self.bens):
            device.ask(self.messenger, "sign_out")
            check_equal(device.expect(self.messenger, "session")["state"], "ended", "the state of the session")
            device.expect(self.messenger, "stream ended")
            check_equal(device.heard(self.messenger), [], f"what else {device.name} heard")
        self.transcript.chapter("The audit log: who did what, with which outcome (all devices have signed out)")
        listed: list[dict] = []

        def is_whole(entries: list[dict]) -> bool:
            listed[:] = [entry for entry in entries if self.acts.is_ours(entry)]
            return not self.acts.missing(listed)

        everything = self.admin.read_log(self.since, is_whole)
        check(not self.acts.missing(listed), f"the audit log lacks {self.acts.missing(listed)[:1]}")
        indexes = [entry["index"] for entry in everything]
        check_equal(indexes, list(range(indexes[0], indexes[0] + len(indexes))), "the indexes of the audit log")
        for entry in listed:
            act = self.acts.read(entry)
            when = f"#{entry['index']:<5} {entry['time'][11:23]}"
            where = f"from {act.device}" if act.device else ""
            self.fact(act.actor, f"{act.action:<26} {act.outcome}", f"{when}  {act.target:<28} {where}".rstrip())

    def search_the_log(self) -> None:
        path = evidence.server_log()
        self.transcript.chapter(
            "The administrator signs out" if path is None else "The server's log is searched for every secret used"
        )
        self.admin.sign_out()
        if path is None:
            self.fact("log", "not searched", "name the file that holds it in ENFILADE_SERVER_LOG")
            return
        line = evidence.await_line(path, self.server.last_request_id)
        self.fact("log", "has the last request", f"{line.get('method')} {line.get('route')} {line.get('status')}")
        results = {"admin": self.kept.search(path)}
        results |= {device.name: device.ask("", "search_log", path) for device in self.devices}
        for who, result in results.items():
            check(not result["found"], f"the log holds: {', '.join(result['found'])} of {who}")
            self.fact(who, "finds none of its secrets", f"{result['searched']} looked for, raw and encoded")
        kinds = sorted({kind for result in results.values() for kind in result["kinds"]})
        for first in range(0, len(kinds), 6):
            self.fact("", "" if first else "which were of these kinds", ", ".join(kinds[first : first + 6]))

    # What the chapters share

    def fact(self, who: str, what: str, detail: str = "") -> None:
        self.transcript.fact(who, what, detail)

    def sign_in_to(self, device: Device, person: Person, app: str, *scopes: str) -> dict:
        seen = device.ask(app, "sign_in", person.username, person.password, *scopes)
        check_equal(seen["accountId"], person.id, f"the account that signed in on {device.name}")
        check_equal(seen["name"], person.name, "the name in the ID token")
        self.acts.session(seen["sid"], app, device.name)
        return seen

    def check_keys(self, found: dict, *devices: Device) -> str:
        """The server hands out the keys that the devices made, and no others."""
        listed = {device["id"]: device["identityKey"] for device in found["devices"]}
        made = {device.id: self.identities[device.id] for device in devices}
        check_equal(listed, made, "the keys in the device list")
        return f"{len(listed)} device{'s' * (len(listed) > 1)}, with the keys they made"

    def deliver(self, sender: Device, text: str, *receivers: Device, stale: Device | None = None) -> dict:
        """Sends to the other person; each receiver has to open and acknowledge it."""
        to = self.ben if self.devices[sender] is self.ada else self.ada
        sent = sender.ask(self.messenger, "send", to.id, text)
        offline = {self.mac.id} if self.mac not in receivers and self.mac is not sender else set()
        check_equal(set(sent["envelopes"]), {device.id for device in receivers} | offline, "the devices written to")
        check_equal(len(set(sent["envelopes"].values())), len(sent["envelopes"]), "the number of different envelopes")
        self.check_refusal(sender, sent["refused"], stale)
        count = len(sent["envelopes"])
        self.fact(sender.name, f"“{text}”", f"to {self.acts.names[to.id]}; {count} envelope{'s' * (count > 1)}")
        for device in receivers:
            got = device.expect(self.messenger, "message")
            check_equal((got["id"], got["text"]), (sent["id"], text), f"the message on {device.name}")
            check_equal(got["sender"]["deviceId"], sender.id, "the device a message is from")
            check(got["acked"] in (got["seq"], None), "the message was not acknowledged")
            self.latencies.append(got["at"] - sent["at"])
            done = "opened and acknowledged" if got["acked"] else "opened, left unacknowledged"
            self.fact("", f"  → {device.name}", f"seq {got['seq']} after {milliseconds(self.latencies[-1])}; {done}")
        return sent | {"text": text}

    def check_refusal(self, sender: Device, refused: dict | None, stale: Device | None) -> None:
        if stale is None:
            check(refused is None, f"the devices changed under {sender.name}")
            return
        check(refused, f"a message that was also for {stale.name} was accepted")
        mismatch = {
            "accountId": self.ada.id, "version": self.list_version, "missingDevices": [], "extraDevices": [stale.id],
            "staleDevices": [],
        }
        check_equal(refused["accounts"], [mismatch], "what the refusal names")
        self.fact(sender.name, f"writes also to {stale.name}", "refused: 409; reads the devices again, seals anew")

    def check_publication(self, publication: dict, validate_only: bool) -> None:
        changes = [
            {"key": "allowed_models", "change": "added", "after": NEXT_VALUES["allowed_models"]},
            {"key": "banner", "change": "removed", "before": FIRST_VALUES["banner"]},
            {"key": "sync_minutes", "change": "changed", "before": 30, "after": 15},
        ]
        wanted = {"revision": 2, "changes": changes, "validateOnly": validate_only}
        check_equal(publication, wanted, "the answer to a publication")

    def check_reports(self) -> None:
        reports = {report["deviceId"]: report for report in self.admin.reports(self.messenger)}
        check_equal(set(reports), {device.id for device in self.devices}, "the devices that reported")
        for device, person in self.devices.items():
            report = reports[device.id]
            seen = (report["accountId"], report["revision"], report["state"])
            check_equal(seen, (person.id, 2, "applied"), f"the report of {device.name}")
        self.fact("admin", "reads the reports", f"{len(reports)} of {len(self.devices)} devices: revision 2 applied")


def difference(change: dict) -> str:
    return " → ".join(str(change[side]) for side in ("before", "after") if side in change)


def cut(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:60]}… ({len(value)} characters)"


def main() -> int:
    transcript = Transcript()
    try:
        url = setting("ENFILADE_URL").rstrip("/")
        password = Path(setting("ENFILADE_ADMIN_PASSWORD_FILE")).read_text().strip()
        Story(url, password, transcript).tell()
    except (Wrong, OSError) as wrong:
        transcript.failed(str(wrong))
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # An answer that is not as documented, most likely.
        place = traceback.extract_tb(error.__traceback__)[-1]
        transcript.failed(f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})")
        return 1
    return 0


def setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise Wrong(f"the variable {name} is not set; bin/demo sets it")
    return value


if __name__ == "__main__":
    sys.exit(main())
