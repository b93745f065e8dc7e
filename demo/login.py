"""Signing in: authorization code with PKCE (RFC 7636) through the server's own page, and what follows from it."""

import base64
import hashlib
import json
import secrets
import time
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from say import Wrong, check, check_equal
from secrets_used import Secrets
from server import Server

REDIRECT_URI = "http://127.0.0.1/callback"


class Session:
    """A signed-in app: its tokens and what they say."""

    def __init__(self, server: Server, app: str, kept: Secrets) -> None:
        self._server = server
        self._kept = kept
        self.app = app

    def sign_in(self, username: str, password: str, scopes: str) -> None:
        self._kept.add("password", password)
        verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
        self._kept.add("code verifier", verifier)
        form, action = self._open_page(scopes, verifier, state, nonce)
        answer = self._server.call(
            "POST", action, 303, data=form | {"username": username, "password": password}
        )
        code = self._read_redirect(answer.headers["Location"], state)
        self._kept.add("authorization code", code)
        self._take_tokens(
            grant_type="authorization_code", code=code, redirect_uri=REDIRECT_URI, code_verifier=verifier
        )
        self._check_id_token(nonce)

    def mistype(self, username: str, password: str, scopes: str) -> int:
        """Fills in the form with a wrong password; answers the status."""
        self._kept.add("password", password)
        verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
        form, action = self._open_page(scopes, verifier, state, nonce)
        answer = self._server.call(
            "POST", action, 401, data=form | {"username": username, "password": password}
        )
        return answer.status_code

    def refresh(self) -> None:
        """Exchanges the refresh token for its successor and a new access token."""
        before = self.refresh_token
        self._take_tokens(grant_type="refresh_token", refresh_token=before)
        check(self.refresh_token != before, "the refresh token did not rotate")

    def revoke(self) -> None:
        self._server.call(
            "POST", self._server.metadata["revocation_endpoint"], 200,
            data={"token": self.refresh_token, "client_id": self.app},
        )

    def is_refused(self, refresh_token: str) -> bool:
        answer = self._server.call(
            "POST", self._server.metadata["token_endpoint"], 400,
            data={"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": self.app},
        )
        return answer.json()["error"] == "invalid_grant"

    def _open_page(self, scopes: str, verifier: str, state: str, nonce: str) -> tuple[dict, str]:
        challenge = _base64url(hashlib.sha256(verifier.encode()).digest())
        endpoint = self._server.metadata["authorization_endpoint"]
        page = self._server.call(
            "GET", endpoint, 200,
            params={
                "response_type": "code", "client_id": self.app, "redirect_uri": REDIRECT_URI, "scope": scopes,
                "state": state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256",
            },
        )
        form = SignInForm()
        form.feed(page.text)
        check("username" in form.names and "password" in form.names, "the sign-in page asks for no name and password")
        for value in form.hidden.values():
            self._kept.add("sign-in request", value)
        return form.hidden, urljoin(endpoint, form.action)

    def _read_redirect(self, location: str, state: str) -> str:
        check(location.startswith(REDIRECT_URI + "?"), "the sign-in did not return to the app")
        answer = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        check("code" in answer, f"the sign-in ended with {answer.get('error')}")
        check_equal(answer.get("state"), state, "the state of the redirect")
        check_equal(answer.get("iss"), self._server.issuer, "the issuer of the redirect (RFC 9207)")
        return answer["code"]

    def _take_tokens(self, **form: str) -> None:
        answer = self._server.call(
            "POST", self._server.metadata["token_endpoint"], 200, data=form | {"client_id": self.app}
        ).json()
        self.access_token: str = answer["access_token"]
        self.refresh_token: str = answer["refresh_token"]
        self.id_token: str = answer.get("id_token", "")
        self.scopes: list[str] = answer["scope"].split()
        self._kept.add("access token", self.access_token)
        self._kept.add("refresh token", self.refresh_token)
        if self.id_token:
            self._kept.add("ID token", self.id_token)

    def _check_id_token(self, nonce: str) -> None:
        """OpenID Connect Core §3.1.3.7, with the published signing keys."""
        claims = self._verified(self.id_token)
        for name, wanted in (("iss", self._server.issuer), ("aud", self.app), ("nonce", nonce)):
            check_equal(claims.get(name), wanted, f"{name} of the ID token")
        check(claims["exp"] > time.time(), "the ID token has expired")
        self.account_id: str = claims["sub"]
        self.sid: str = claims["sid"]
        self.name: str = claims["name"]

    def _verified(self, token: str) -> dict:
        header, payload, signature = token.split(".")
        kid = json.loads(_unbase64url(header))["kid"]
        keys = self._server.call("GET", self._server.metadata["jwks_uri"], 200).json()["keys"]
        key = next((key for key in keys if key["kid"] == kid), None)
        check(key, "the key that signed the ID token is not published")
        try:
            VerifyKey(_unbase64url(key["x"])).verify(f"{header}.{payload}".encode(), _unbase64url(signature))
        except BadSignatureError as error:
            raise Wrong("the signature of the ID token does not verify") from error
        return json.loads(_unbase64url(payload))


class SignInForm(HTMLParser):
    """The form of the sign-in page: where it goes and what it hides."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.hidden: dict[str, str] = {}
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag == "form":
            self.action = facts.get("action") or ""
        if tag == "input" and facts.get("type") == "hidden":
            self.hidden[facts["name"] or ""] = facts.get("value") or ""
        elif tag == "input":
            self.names.add(facts.get("name") or "")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unbase64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
