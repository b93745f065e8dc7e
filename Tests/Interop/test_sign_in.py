"""requests-oauth2client signs in, refreshes and signs out; joserfc verifies what it was given."""

import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from browser import WAIT, Browser, Form, Loopback
from joserfc import jwt
from joserfc.jwk import KeySet
from requests_oauth2client import InvalidGrant, InvalidScope
from suite import MEMBER_SCOPES, oauth_client, sign_in

ENDED_WITHIN = 2.0
UUID = re.compile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


@pytest.fixture
def client(url, app):
    return oauth_client(url, app)


@pytest.fixture
def browser():
    each = Browser()
    yield each
    each.close()


@pytest.fixture
def loopback():
    each = Loopback()
    yield each
    each.close()


def session_with(url, tokens):
    headers = {"Authorization": f"Bearer {tokens.access_token}"}
    return requests.get(f"{url}/v1/session", headers=headers, timeout=WAIT)


def test_both_discovery_documents_say_the_same_of_the_same_issuer(url):
    openid = requests.get(f"{url}/.well-known/openid-configuration", timeout=WAIT).json()
    oauth = requests.get(f"{url}/.well-known/oauth-authorization-server", timeout=WAIT).json()
    assert openid == oauth
    assert openid["issuer"] == url
    assert openid["code_challenge_methods_supported"] == ["S256"]


def test_a_person_signs_in_with_code_and_pkce_over_a_loopback_redirect(url, client, person):
    tokens = sign_in(client, *person, MEMBER_SCOPES)
    assert tokens.token_type == "Bearer" and 0 < tokens.expires_in <= 600
    assert set(tokens.scope.split()) == set(MEMBER_SCOPES.split())
    session = session_with(url, tokens)
    assert session.status_code == 200
    assert session.json()["account"]["username"] == person[0]


def test_both_tokens_verify_against_the_published_keys(url, app, client, browser, loopback, person):
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=MEMBER_SCOPES)
    browser.sign_in(request.uri, *person)
    tokens = client.authorization_code(request.validate_callback(loopback.callback))
    keys = KeySet.import_key_set(requests.get(f"{url}/oauth2/jwks", timeout=WAIT).json())
    now = int(time.time())

    access = jwt.decode(str(tokens.access_token), keys, algorithms=["EdDSA"])
    assert access.header["typ"] == "at+jwt"
    checks = jwt.JWTClaimsRegistry(
        now=now,
        iss={"essential": True, "value": url},
        aud={"essential": True, "value": url},
        client_id={"essential": True, "value": app},
        exp={"essential": True},
        iat={"essential": True},
    )
    checks.validate(access.claims)
    assert access.claims["exp"] - access.claims["iat"] <= 600
    assert set(access.claims["scope"].split()) == set(MEMBER_SCOPES.split())
    assert all(UUID.match(access.claims[name]) for name in ("sub", "sid", "jti"))

    identity = jwt.decode(str(tokens.id_token), keys, algorithms=["EdDSA"])
    checks = jwt.JWTClaimsRegistry(
        now=now,
        iss={"essential": True, "value": url},
        aud={"essential": True, "value": app},
        nonce={"essential": True, "value": request.nonce},
        exp={"essential": True},
        auth_time={"essential": True},
    )
    checks.validate(identity.claims)
    assert identity.claims["preferred_username"] == person[0]
    assert identity.claims["sub"] == access.claims["sub"] and identity.claims["sid"] == access.claims["sid"]


def test_a_changed_token_is_refused(url, client, person):
    tokens = sign_in(client, *person, MEMBER_SCOPES)
    head, body, signature = str(tokens.access_token).split(".")
    forged = f"{head}.{body}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"
    answer = requests.get(f"{url}/v1/session", headers={"Authorization": f"Bearer {forged}"}, timeout=WAIT)
    assert answer.status_code == 401
    assert answer.json()["type"] == "/problems/unauthenticated"
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_refreshing_rotates_and_a_lost_answer_can_be_asked_for_again(url, client, person):
    first = sign_in(client, *person, MEMBER_SCOPES)
    lost = client.refresh_token(first)
    second = client.refresh_token(first)
    assert second.refresh_token == lost.refresh_token != first.refresh_token
    assert session_with(url, second).status_code == 200


def test_a_rotated_token_used_after_its_successor_ends_the_session(client, person):
    first = sign_in(client, *person, MEMBER_SCOPES)
    second = client.refresh_token(first)
    third = client.refresh_token(second)
    with pytest.raises(InvalidGrant):
        client.refresh_token(first)
    with pytest.raises(InvalidGrant):
        client.refresh_token(third)


def test_refreshing_can_narrow_the_scope_and_not_widen_it(client, person):
    tokens = sign_in(client, *person, "openid offline_access config")
    narrow = client.refresh_token(tokens, scope="config")
    assert narrow.scope.split() == ["config"]
    with pytest.raises(InvalidScope):
        client.refresh_token(narrow, scope="config mailbox")


def test_without_offline_access_there_is_no_refresh_token(client, person):
    tokens = sign_in(client, *person, "openid config")
    assert tokens.refresh_token is None


def test_revoking_ends_the_session_in_time(url, client, person):
    tokens = sign_in(client, *person, MEMBER_SCOPES)
    assert session_with(url, tokens).status_code == 200
    assert client.revoke_refresh_token(tokens) is True
    deadline = time.monotonic() + ENDED_WITHIN
    answer = session_with(url, tokens)
    while answer.status_code == 200 and time.monotonic() < deadline:
        answer = session_with(url, tokens)
    assert answer.status_code == 401
    assert answer.json()["type"] == "/problems/session-ended"
    with pytest.raises(InvalidGrant):
        client.refresh_token(tokens)


def test_revoking_an_unknown_token_is_answered_like_any_other(client):
    assert client.revoke_refresh_token("x" * 43) is True


def test_a_code_works_once_and_its_second_use_ends_the_session(client, browser, loopback, person):
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=MEMBER_SCOPES)
    browser.sign_in(request.uri, *person)
    code = request.validate_callback(loopback.callback)
    tokens = client.authorization_code(code)
    with pytest.raises(InvalidGrant):
        client.authorization_code(code)
    with pytest.raises(InvalidGrant):
        client.refresh_token(tokens)


def test_a_code_is_worth_nothing_without_its_verifier(client, browser, loopback, person):
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=MEMBER_SCOPES)
    browser.sign_in(request.uri, *person)
    code = request.validate_callback(loopback.callback)
    with pytest.raises(InvalidGrant):
        client.authorization_code(code.code, redirect_uri=loopback.redirect_uri, code_verifier="a" * 43)


def test_a_wrong_password_shows_the_page_again_and_the_right_one_then_works(client, browser, loopback, person):
    username, password = person
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=MEMBER_SCOPES)
    again = browser.sign_in(request.uri, username, "not " + password)
    assert again.status_code == 401 and not loopback.received
    assert set(Form(again.text).fields) >= {"request", "username", "password"}
    assert password not in again.text
    browser.submit(again, username=username.upper(), password=password)
    assert client.authorization_code(request.validate_callback(loopback.callback)).access_token


def test_an_unknown_name_and_a_wrong_password_look_the_same(client, browser, loopback, person):
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope=MEMBER_SCOPES)
    typed = [(person[0], "wrong-password"), ("nobody-of-that-name", "wrong-password")]
    pages = [browser.sign_in(request.uri, *each) for each in typed]
    assert [page.status_code for page in pages] == [401, 401]
    texts = [re.sub(r'value="[^"]*"', "", page.text) for page in pages]
    assert texts[0] == texts[1]


def test_nothing_is_sent_to_a_redirect_uri_that_is_not_registered(client, browser):
    request = client.authorization_request(redirect_uri="http://127.0.0.1:9/elsewhere", scope=MEMBER_SCOPES)
    answer = browser.session.get(str(request.uri), timeout=WAIT, allow_redirects=False)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("text/html") and "Location" not in answer.headers


def test_a_scope_the_app_may_not_ask_for_is_refused_by_redirect(url, client, browser, loopback):
    request = client.authorization_request(redirect_uri=loopback.redirect_uri, scope="openid admin")
    browser.open(request.uri)
    answer = parse_qs(urlsplit(loopback.callback).query)
    assert answer["error"] == ["invalid_scope"]
    assert answer["state"] == [request.state] and answer["iss"] == [url]
