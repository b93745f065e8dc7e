"""The README's five minutes and a message, through the generated Python client, which is on PYTHONPATH."""

import base64
import hashlib
import os
import re
import secrets
import time
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from enfilade_client import AuthenticatedClient, Client
from enfilade_client.api.accounts import create_account, find_account
from enfilade_client.api.apps import create_app
from enfilade_client.api.audit import list_audit_entries
from enfilade_client.api.configuration import (
    get_app_configuration, get_configuration, publish_configuration, report_configuration,
)
from enfilade_client.api.devices import enrol_device, get_account_devices
from enfilade_client.api.login import get_open_id_configuration, issue_token, show_sign_in_page, sign_in
from enfilade_client.api.messages import acknowledge_mailbox, read_mailbox, send_message
from enfilade_client.api.sessions import get_current_session
from enfilade_client.models import (
    Acknowledgement, AppKind, CodeChallengeMethod, ConfigurationValues, Enrolment, Envelope, GrantType, NewAccount, NewApp,
    NewConfiguration, NewConfigurationReport, NewMessage, Platform, Problem, Recipient, ReportState, ResponseType, Scope,
    SignInForm, TokenForm,
)
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.signing import SigningKey

URL = os.environ.get("ENFILADE_URL", "http://127.0.0.1:8080").rstrip("/")
PASSWORD = Path(os.environ.get("ENFILADE_ADMIN_PASSWORD_FILE", ".enfilade/admin-password")).read_text().rstrip("\n")
REDIRECT = "http://127.0.0.1/callback"
SUFFIX = secrets.token_hex(4)
APP = f"python-{SUFFIX}"


def check(holds, words):
    if not holds:
        raise SystemExit(f"not so: {words}")
    print(f"ok  {words}")


def b64(data):
    return base64.b64encode(data).decode()


def signed_in(app, username, password, scope):
    """The authorization code flow; gives a client that holds the access token."""
    client, verifier = Client(base_url=URL), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    page = show_sign_in_page.sync_detailed(
        client=client, response_type=ResponseType.CODE, client_id=app, redirect_uri=REDIRECT, scope=scope, state="tour",
        code_challenge=challenge, code_challenge_method=CodeChallengeMethod.S256,
    )
    field = re.search(rb'name="request" value="([^"]*)"', page.content)[1].decode()
    answer = sign_in.sync_detailed(client=client, body=SignInForm(request=field, username=username, password=password))
    code = parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
    form = TokenForm(
        grant_type=GrantType.AUTHORIZATION_CODE, client_id=app, code=code, redirect_uri=REDIRECT, code_verifier=verifier
    )
    return AuthenticatedClient(base_url=URL, token=issue_token.sync(client=client, body=form).access_token)


class Person:
    """An account of the app with one device."""

    def __init__(self, admin, name):
        new = NewAccount(username=f"{name}-{SUFFIX}", display_name=name, password="a long enough password")
        self.account = create_account.sync(client=admin, body=new)
        self.client = signed_in(APP, new.username, new.password, "openid mailbox config")
        self.identity, self.agreement = SigningKey.generate(), PrivateKey.generate()
        self.device = enrol_device.sync(client=self.client, body=self.enrolment())

    def enrolment(self):
        session = get_current_session.sync(client=self.client)
        issuer = get_open_id_configuration.sync(client=self.client).issuer
        keys = b64(self.identity.verify_key.encode()), b64(self.agreement.public_key.encode())
        lines = [
            "enfilade-enrol-v1", issuer, str(session.account.id), str(session.sid), f"ed25519:{keys[0]}", f"x25519:{keys[1]}",
        ]
        proof = self.identity.sign("".join(f"{line}\n" for line in lines).encode()).signature
        return Enrolment(
            name="Tour", platform=Platform.LINUX, identity_key=keys[0], agreement_key=keys[1], signature=b64(proof)
        )


def publish(admin):
    before = get_app_configuration.sync_detailed(client=admin, app=APP).headers["ETag"]
    body = NewConfiguration(values=ConfigurationValues.from_dict({"syncMinutes": 15}), reason="the tour")
    dry = publish_configuration.sync(client=admin, app=APP, body=body, if_match=before, validate_only=True)
    real = publish_configuration.sync(client=admin, app=APP, body=body, if_match=before)
    check(dry.validate_only and dry.changes == real.changes and real.revision == 1, "a dry run shows what publishing does")
    late = publish_configuration.sync(client=admin, app=APP, body=body, if_match=before)
    check(isinstance(late, Problem) and late.status == 412, "a version that is gone is a typed problem")


def write(sender, receiver):
    found = find_account.sync(client=sender.client, username=receiver.account.username)
    devices = get_account_devices.sync(client=sender.client, account=found.account_id)
    envelopes = [
        Envelope(
            device_id=each.id, key_version=each.key_version,
            ciphertext=b64(SealedBox(PublicKey(base64.b64decode(each.agreement_key))).encrypt(b"hello")),
        )
        for each in devices.devices
    ]
    recipient = Recipient(account_id=found.account_id, device_list_version=devices.version, envelopes=envelopes)
    accepted = send_message.sync(client=sender.client, body=NewMessage(id=uuid.uuid4(), recipients=[recipient]))
    page = read_mailbox.sync(client=receiver.client)
    plain = SealedBox(receiver.agreement).decrypt(base64.b64decode(page.items[0].ciphertext))
    check(accepted.accepted == [receiver.device.id] and plain == b"hello", "a message arrives and opens")
    acked = acknowledge_mailbox.sync(client=receiver.client, body=Acknowledgement(through=page.head))
    check(acked.acked == page.head, "it is acknowledged")


def published_entries(admin, since):
    """An act is listed within a second or so; asked for again from `next` until it is."""
    deadline, more = time.monotonic() + 60, {}
    while time.monotonic() < deadline:
        page = list_audit_entries.sync(client=admin, action="configuration.published", target=APP, from_=since, **more)
        if page.items:
            return page.items
        more = {"after": page.next_}
        time.sleep(0.1)
    return []


def main():
    began = datetime.now(timezone.utc)
    admin = signed_in("enfilade-cli", "admin", PASSWORD, "openid admin audit")
    scopes = [Scope.OPENID, Scope.OFFLINE_ACCESS, Scope.MAILBOX, Scope.CONFIG]
    app = create_app.sync(
        client=admin, body=NewApp(id=APP, name="Python", kind=AppKind.APP, redirect_uris=[REDIRECT], scopes=scopes)
    )
    check(abs(app.created_at - began) < timedelta(minutes=1), "an app is registered just now")
    publish(admin)
    sender, receiver = Person(admin, "ada"), Person(admin, "ben")
    check(sender.device.current and receiver.device.current, "two devices are enrolled")
    held = get_configuration.sync(client=receiver.client)
    check(held.values["syncMinutes"] == 15, "the app on the device reads its configuration")
    report = NewConfigurationReport(revision=held.revision, state=ReportState.APPLIED)
    check(
        report_configuration.sync_detailed(client=receiver.client, body=report).status_code == 204, "and says it is applied"
    )
    write(sender, receiver)
    entries = published_entries(admin, began - timedelta(minutes=1))
    check(entries and entries[0].reason == "the tour", "the audit log tells who published what")


if __name__ == "__main__":
    main()
