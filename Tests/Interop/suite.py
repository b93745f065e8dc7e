"""An organisation as its clients see it: an administrator, people, devices. Keys and sealing are PyNaCl's."""

import base64
import uuid

import httpx
from browser import Browser, Loopback
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.signing import SigningKey
from requests_oauth2client import OAuth2Client, PublicApp

ADMIN_SCOPES = "openid profile offline_access admin audit"
MEMBER_SCOPES = "openid profile offline_access mailbox config"
TIMEOUT = httpx.Timeout(20, read=40)


def b64(data):
    return base64.b64encode(data).decode()


def oauth_client(url, app):
    # `testing` only lets the library accept http instead of https.
    return OAuth2Client.from_discovery_endpoint(
        issuer=url, auth=PublicApp(app), testing=True, id_token_signed_response_alg="EdDSA"
    )


def sign_in(client, username, password, scope):
    """The whole authorization code flow; gives the library's token object."""
    browser, loopback = Browser(), Loopback()
    try:
        request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=scope)
        browser.sign_in(request.uri, username, password)
        return client.authorization_code(request.validate_callback(loopback.callback))
    finally:
        browser.close()
        loopback.close()


def enrolment(issuer, session, identity, agreement):
    """The body that binds this session to the device which holds these keys."""
    keys = b64(identity.verify_key.encode()), b64(agreement.public_key.encode())
    lines = [
        "enfilade-enrol-v1",
        issuer,
        session["account"]["id"],
        session["sid"],
        f"ed25519:{keys[0]}",
        f"x25519:{keys[1]}",
    ]
    signature = identity.sign("".join(f"{line}\n" for line in lines).encode()).signature
    return {
        "name": "Interop's device",
        "platform": "linux",
        "identityKey": keys[0],
        "agreementKey": keys[1],
        "signature": b64(signature),
    }


class Caller:
    """A signed-in session that calls the API."""

    def __init__(self, url, app, username, password, scope):
        self.oauth = oauth_client(url, app)
        self.tokens = sign_in(self.oauth, username, password, scope)
        self.http = self.connect(url)

    def connect(self, url):
        return httpx.Client(base_url=url, timeout=TIMEOUT, headers=self.authorization)

    @property
    def authorization(self):
        return {"Authorization": f"Bearer {self.tokens.access_token}"}

    def call(self, method, path, expected, **options):
        response = self.http.request(method, path, **options)
        assert response.status_code == expected, f"{method} {path}: {response.status_code} {response.text}"
        return response

    def get(self, path, **options):
        return self.call("GET", path, 200, **options)

    def close(self):
        self.http.close()


class Administrator(Caller):
    def create_app(self, scopes):
        app = f"app-{uuid.uuid4().hex[:12]}"
        body = {
            "id": app,
            "name": "Interop",
            "kind": "app",
            "redirectUris": ["http://127.0.0.1/callback"],
            "scopes": scopes,
        }
        return self.call("POST", "/v1/apps", 201, json=body).json()["id"]

    def create_account(self, role="member"):
        """A new account as (username, password)."""
        username, password = f"user-{uuid.uuid4().hex[:12]}", uuid.uuid4().hex
        body = {"username": username, "displayName": username, "password": password, "role": role}
        self.call("POST", "/v1/accounts", 201, json=body)
        return username, password

    def publish(self, app, values, reason="interop"):
        path = f"/v1/apps/{app}/config"
        tag = self.get(path).headers["ETag"]
        body = {"values": values, "reason": reason}
        return self.call("PUT", path, 200, json=body, headers={"If-Match": tag}).json()


class Member(Caller):
    """A person's app on one device, with keys made here."""

    def __init__(self, url, app, username, password):
        super().__init__(url, app, username, password, MEMBER_SCOPES)
        self.identity, self.agreement = SigningKey.generate(), PrivateKey.generate()
        self.session = self.get("/v1/session").json()
        self.account = self.session["account"]["id"]
        self.device = self.enrol(url)

    def enrol(self, issuer):
        body = enrolment(issuer, self.session, self.identity, self.agreement)
        return self.call("POST", "/v1/devices", 201, json=body).json()["id"]

    def send(self, account, text, **more):
        """Seal the text for every device of the account; gives the message's id. `more` are further fields."""
        devices = self.get(f"/v1/accounts/{account}/devices").json()
        message = {
            "id": str(uuid.uuid4()),
            "recipients": [
                {
                    "accountId": account,
                    "deviceListVersion": devices["version"],
                    "envelopes": [
                        {
                            "deviceId": device["id"],
                            "keyVersion": device["keyVersion"],
                            "ciphertext": b64(sealed(device["agreementKey"], text)),
                        }
                        for device in devices["devices"]
                    ],
                }
            ],
        } | more
        accepted = self.call("POST", "/v1/messages", 201, json=message).json()
        assert accepted["accepted"] == [device["id"] for device in devices["devices"]]
        return accepted["id"]

    def opened(self, item):
        return SealedBox(self.agreement).decrypt(base64.b64decode(item["ciphertext"], validate=True)).decode()


def sealed(agreement_key, text):
    return SealedBox(PublicKey(base64.b64decode(agreement_key, validate=True))).encrypt(text.encode())
