"""Two nodes on one database, and each proxy in turn in front of them.

From the environment: ENFILADE_BINARY, ENFILADE_DATABASE_URL, ENFILADE_OWNER_DATABASE_URL.
"""

import copy
import os
import subprocess
import sys
from pathlib import Path

import httpx
import proxies
import pytest
from processes import Site, certificate, free_port
from suite import ADMIN_SCOPES, TIMEOUT, Administrator, Member

# The proxies are trusted at 127.0.0.1; clients are somebody else, and all of 127.0.0.0/8 is this machine.
CLIENT = "127.0.0.5"


def client(url):
    transport = httpx.HTTPTransport(http2=True, local_address=CLIENT, verify=httpx.create_ssl_context())
    return httpx.Client(base_url=url, timeout=TIMEOUT, transport=transport)


class OverHTTP2:
    """Calls go out over HTTP/2 from the client's address."""

    def again(self):
        """The same session on a connection of its own."""
        other = copy.copy(self)
        other.http = self.connect(str(self.http.base_url))
        return other

    def reconnect(self, url):
        self.http.close()
        self.http = self.connect(url)

    def connect(self, url):
        each = client(url)
        each.headers.update(self.authorization)
        return each


class Admin(OverHTTP2, Administrator):
    pass


class Person(OverHTTP2, Member):
    pass


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    authority = str(certificate(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", authority)
        patch.setenv("REQUESTS_CA_BUNDLE", authority)
        yield Site(folder, free_port())


@pytest.fixture(scope="session")
def nodes(site):
    both = [site.node("one"), site.node("two")]
    for node in both:
        node.start()
    yield both
    assert [node.stop() for node in both] == [0, 0]


@pytest.fixture(scope="session", params=proxies.ALL, ids=lambda kind: kind.kind)
def proxy(request, site, nodes):
    running = request.param(site.folder, site.port, nodes)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def organisation(proxy, site):
    admin = Admin(site.url, "enfilade-cli", "admin", site.password.read_text().strip(), ADMIN_SCOPES)
    app = admin.create_app(["openid", "profile", "offline_access", "mailbox", "config"])
    yield admin, app
    admin.close()


@pytest.fixture
def member(site, organisation):
    admin, app = organisation
    made = []

    def make():
        made.append(Person(site.url, app, *admin.create_account()))
        return made[-1]

    yield make
    for each in made:
        each.close()


def run_interop(site):
    """The whole suite of third-party clients against the site."""
    environment = os.environ | {"ENFILADE_URL": site.url, "ENFILADE_ADMIN_PASSWORD_FILE": str(site.password)}
    environment.pop("ENFILADE_EXCHANGES_DIR", None)
    folder = Path(__file__).resolve().parents[1] / "Interop"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
