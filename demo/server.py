"""The server as a client sees it: requests, expected statuses, problems (RFC 9457) put into words."""

import socket
from urllib.parse import urlsplit

import httpx

from say import Wrong, check, check_equal


class Server:
    """One client's connections. Knows where things are from discovery, as an OpenID Connect client should."""

    def __init__(self, url: str) -> None:
        # A proxy of the environment is not meant for a server on this machine.
        self.http = httpx.Client(
            base_url=url, timeout=15, trust_env=False, event_hooks={"response": [_send_at_once]}
        )
        self.last_request_id = ""
        self.metadata = self.get("/.well-known/openid-configuration")
        self.issuer = self.metadata["issuer"]
        check_equal(self.issuer, url, "the issuer of this server (its public URL)")

    def get(self, path: str, token: str | None = None, **more) -> dict:
        return self.call("GET", path, 200, token, **more).json()

    def post(self, path: str, token: str, body: dict, *statuses: int) -> httpx.Response:
        return self.call("POST", path, statuses or (201,), token, json=body)

    def call(
        self, method: str, path: str, statuses: int | tuple[int, ...], token: str | None = None, **more
    ) -> httpx.Response:
        """Any request; an answer with another status ends the story."""
        headers = dict(more.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            response = self.http.request(method, path, headers=headers, **more)
        except httpx.HTTPError as error:
            raise Wrong(f"{method} {_place(path)} got no answer: {error or type(error).__name__}") from error
        wanted = (statuses,) if isinstance(statuses, int) else statuses
        if response.status_code not in wanted:
            expected = " or ".join(map(str, wanted))
            raise Wrong(f"{method} {_place(path)} answered {in_words(response)} instead of {expected}")
        self.last_request_id = response.headers.get("Request-Id", "")
        check(self.last_request_id, f"{method} {_place(path)} answered without Request-Id")
        return response


def in_words(response: httpx.Response) -> str:
    """Status, kind of problem, and the fields at fault."""
    words = [str(response.status_code)]
    if "json" in response.headers.get("Content-Type", ""):
        body = response.json()
        words += [str(body[name]) for name in ("type", "error", "detail", "error_description") if name in body]
        words += [f"{fault['pointer']}: {fault['detail']}" for fault in body.get("errors", [])]
    return " ".join(words)


def _send_at_once(response: httpx.Response) -> None:
    """This httpx writes head and body apart; the body would wait 40 ms for the head's delayed acknowledgement."""
    connection = response.extensions["network_stream"].get_extra_info("socket")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _place(path: str) -> str:
    return urlsplit(path).path
