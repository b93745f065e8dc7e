"""What the administrator does: apps, people, configuration, the audit log."""

import time
from collections.abc import Callable

from login import REDIRECT_URI, Session
from say import check, check_equal
from secrets_used import Secrets
from server import Server

APP = "enfilade-cli"
SCOPES = "openid profile offline_access admin audit"


class Administrator:
    def __init__(self, server: Server, kept: Secrets) -> None:
        self._server = server
        self._kept = kept
        self.session = Session(server, APP, kept)

    def sign_in(self, password: str) -> dict:
        self.session.sign_in("admin", password, SCOPES)
        seen = self._server.get("/v1/session", self._token)
        check_equal(seen["account"]["role"], "admin", "the role of the administrator")
        own = self._server.get("/v1/sessions", self._token)["items"]
        current = next((session for session in own if session["current"]), None)
        check(current, "the list of sessions lacks the current one")
        return current

    def register_app(self, app: str, name: str, scopes: list[str]) -> dict:
        body = {"id": app, "name": name, "kind": "app", "redirectUris": [REDIRECT_URI], "scopes": scopes}
        created = self._server.post("/v1/apps", self._token, body).json()
        check_equal(created["id"], app, "the id of the registered app")
        check_equal(sorted(created["scopes"]), sorted(scopes), "the scopes of the registered app")
        return created

    def create_person(self, username: str, name: str, password: str) -> dict:
        self._kept.add("password", password)
        body = {"username": username, "displayName": name, "password": password}
        created = self._server.post("/v1/accounts", self._token, body).json()
        check_equal(created["username"], username, "the username of the new account")
        check_equal(created["role"], "member", "the role of the new account")
        check("password" not in created, "the answer to a new account holds a password")
        return created

    def read_configuration(self, app: str) -> tuple[dict, str]:
        answer = self._server.call("GET", f"/v1/apps/{app}/config", 200, self._token)
        return answer.json(), answer.headers["ETag"]

    def publish(self, app: str, values: dict, reason: str, tag: str, validate_only: bool = False) -> dict:
        return self._server.call(
            "PUT", f"/v1/apps/{app}/config", 200, self._token, json={"values": values, "reason": reason},
            headers={"If-Match": tag}, params={"validateOnly": "true"} if validate_only else None,
        ).json()

    def reports(self, app: str) -> list[dict]:
        return self._server.get(f"/v1/apps/{app}/config/reports", self._token)["items"]

    def read_log(self, since: str, is_whole: Callable[[list[dict]], bool]) -> list[dict]:
        """Entries are listed a second or so after their act; asks from where it was until they are all there."""
        entries: list[dict] = []
        asked: dict = {"limit": 200, "from": since}
        deadline = time.monotonic() + 5
        while not is_whole(entries) and time.monotonic() < deadline:
            page = self._server.get("/v1/audit/entries", self._token, params=asked)
            entries += page["items"]
            asked["after"] = page["next"]
            if len(page["items"]) < asked["limit"]:
                time.sleep(0.1)
        return entries

    def sign_out(self) -> None:
        self._server.call("DELETE", f"/v1/sessions/{self.session.sid}", 204, self._token)

    @property
    def _token(self) -> str:
        return self.session.access_token
