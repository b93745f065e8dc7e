"""Runs schemathesis against a server, once as a member with an enrolled device and once as an administrator.

The server comes from the environment: ENFILADE_URL and ENFILADE_ADMIN_PASSWORD_FILE. Further arguments go to schemathesis.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "Interop"))

from nacl.public import PrivateKey
from nacl.signing import SigningKey
from suite import ADMIN_SCOPES, Administrator, Member, enrolment

APP_SCOPES = ["openid", "profile", "offline_access", "mailbox", "config"]
CLI = "enfilade-cli"


def main():
    url = os.environ["ENFILADE_URL"].rstrip("/")
    password = Path(os.environ["ENFILADE_ADMIN_PASSWORD_FILE"]).read_text(encoding="utf-8").rstrip("\n")
    administrator = Administrator(url, CLI, "admin", password, ADMIN_SCOPES)
    app = administrator.create_app(APP_SCOPES)
    administrator.publish(app, {"syncMinutes": 15})
    member, other = (Member(url, app, *administrator.create_account()) for _ in range(2))
    print("As a member with a device:", flush=True)
    status = run(url, member, facts(url, member, recipients(member, other)))
    print("\nAs an administrator:", flush=True)
    # An account of its own, so that the run has another one to fall back on.
    caller = Administrator(url, CLI, *administrator.create_account("admin"), ADMIN_SCOPES)
    return max(status, run(url, caller, facts(url, caller, [])))


def recipients(sender, receiver):
    """What a message to the receiver has to name."""
    devices = sender.get(f"/v1/accounts/{receiver.account}/devices").json()
    envelopes = [
        {"deviceId": each["id"], "keyVersion": each["keyVersion"], "ciphertext": "aGVsbG8="}
        for each in devices["devices"]
    ]
    return [{"accountId": receiver.account, "deviceListVersion": devices["version"], "envelopes": envelopes}]


def facts(url, caller, addresses):
    """What the hooks have to know. A session without a device gets one."""
    session = caller.get("/v1/session").json()
    identity = getattr(caller, "identity", None) or SigningKey.generate()
    agreement = getattr(caller, "agreement", None) or PrivateKey.generate()
    body = enrolment(url, session, identity, agreement)
    device = caller.http.post("/v1/devices", json=body).raise_for_status().json()
    keys = {name: body[name] for name in ("identityKey", "agreementKey", "signature")}
    own = {"sid": session["sid"], "account": session["account"]["id"], "device": device["id"]}
    return own | {"keys": keys, "recipients": addresses}


def run(url, caller, scene):
    environment = os.environ | {
        "ENFILADE_SCENE": json.dumps(scene),
        "ENFILADE_TOKEN": str(caller.tokens.access_token),
        "PYTHONPATH": str(HERE),
    }
    command = [
        Path(sys.executable).parent / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run",
        ROOT / "openapi" / "openapi.yaml", "--url", url, *sys.argv[1:],
    ]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
