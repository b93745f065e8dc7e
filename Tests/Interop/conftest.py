"""The server under test comes from the environment: ENFILADE_URL and ENFILADE_ADMIN_PASSWORD_FILE.

With ENFILADE_EXCHANGES_DIR every exchange is written down there, for the contract check.
"""

import os
from pathlib import Path

import pytest
import recorder
from suite import ADMIN_SCOPES, Administrator, Member


@pytest.fixture(scope="session")
def url():
    address = os.environ.get("ENFILADE_URL")
    assert address, "ENFILADE_URL is not set"
    return address.rstrip("/")


@pytest.fixture(scope="session", autouse=True)
def recording(url):
    folder = os.environ.get("ENFILADE_EXCHANGES_DIR")
    with pytest.MonkeyPatch.context() as patch:
        if folder:
            recorder.install(recorder.Recorder(folder, url), patch)
        yield


@pytest.fixture(scope="session")
def admin(url):
    path = os.environ.get("ENFILADE_ADMIN_PASSWORD_FILE")
    assert path, "ENFILADE_ADMIN_PASSWORD_FILE is not set"
    password = Path(path).read_text(encoding="utf-8").rstrip("\n")
    administrator = Administrator(url, "enfilade-cli", "admin", password, ADMIN_SCOPES)
    yield administrator
    administrator.close()


@pytest.fixture(scope="session")
def app(admin):
    return admin.create_app(["openid", "profile", "offline_access", "mailbox", "config"])


@pytest.fixture
def person(admin):
    """Username and password of somebody new."""
    return admin.create_account()


@pytest.fixture
def member(url, admin, app):
    """Makes members with an enrolled device each; for somebody new, or on another device of somebody's."""
    made = []

    def make(person=None):
        made.append(Member(url, app, *(person or admin.create_account())))
        return made[-1]

    yield make
    for each in made:
        each.close()
