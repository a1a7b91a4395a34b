"""Whoever calls by a host name of their own gets no link that leads there."""

from __future__ import annotations

import json
import re
import socket
from http.client import HTTPResponse
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import yaml
from django.core import mail
from django.core.cache import cache
from django.test import Client

from portal.api_docs import document
from tests.clients import confirm
from tests.factories.accounts import PASSWORD, make_api_key
from tests.factories.openid import make_single_sign_on, serve_openid
from tests.factories.users import make_user
from tests.portal.http.test_headers import EVERYWHERE

pytestmark = pytest.mark.django_db(transaction=True)
OURS = "https://assay.example"
LONG = "a new long sentence"
HOME = "/t/alice-health/sandbox"
EVIL = "evil.example"
# Each way in which a request can name another host.
HOSTILE = {
    "Host": {"host": EVIL},
    "Host and port": {"host": f"{EVIL}:8443"},
    "port": {"host": "127.0.0.1:1"},
    "X-Forwarded-Host": {"X-Forwarded-Host": EVIL, "X-Forwarded-Port": "8443"},
    "Forwarded": {"Forwarded": f"host={EVIL};proto=http"},
}
FOREIGN = re.compile(r"evil\.example|127\.0\.0\.1:1\b")
URL = re.compile(r"https?://[^\s\"'<>)\\]+")
# What a page of ours names besides: a namespace of its pictures.
NAMESPACES = ("http://www.w3.org/",)


@pytest.fixture(autouse=True)
def _open_to_all(settings):
    """The worst that an installation can say of its hosts."""
    settings.PUBLIC_URL = OURS
    settings.ALLOWED_HOSTS = ["*"]
    cache.clear()


class TinyGenerator:
    """Makes a document without operations."""

    def get_schema(self, *, public):
        return {"openapi": "3.0.3", "info": {}, "paths": {}}


class Caller:
    """Calls a server over a socket as nobody or by a session, under a hostile host."""

    def __init__(self, server, hostile, client=None):
        self.place = (server.thread.host, server.thread.port)
        self.hostile = dict(hostile)
        self.host = self.hostile.pop("host", f"{server.thread.host}:{self.place[1]}")
        self.cookies = {"csrftoken": "c" * 32}
        if client is not None:
            self.cookies["sessionid"] = client.cookies["sessionid"].value

    def call(self, method, target, body=b"", **headers):
        """The answer: status, headers, text."""
        cookies = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        lines = {
            "Host": self.host,
            "Connection": "close",
            "Cookie": cookies,
            "Content-Length": str(len(body)),
            **self.hostile,
            **headers,
        }
        head = "".join(f"{name}: {text}\r\n" for name, text in lines.items())
        with socket.create_connection(self.place, timeout=20) as opened:
            opened.sendall(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
            reply = HTTPResponse(opened)
            reply.begin()
            text = reply.read().decode()
        for line in reply.headers.get_all("Set-Cookie", ()):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return reply.status, reply.headers, text

    def get(self, target, **headers):
        return self.call("GET", target, **headers)

    def post(self, target, **fields):
        form = urlencode({"csrfmiddlewaretoken": "c" * 32, **fields}).encode()
        kind = "application/x-www-form-urlencoded"
        return self.call("POST", target, form, **{"Content-Type": kind})


def links_of(text):
    """Every absolute link in it, but for namespaces."""
    return [link for link in URL.findall(text) if not link.startswith(NAMESPACES)]


def assert_ours(text, *, some=False):
    assert FOREIGN.search(text) is None, text
    links = links_of(text)
    assert [link for link in links if not link.startswith(f"{OURS}/")] == []
    assert links or not some


@pytest.fixture(params=HOSTILE, ids=lambda name: name.replace(" ", "-"))
def hostile(request):
    return HOSTILE[request.param]


@pytest.fixture
def stranger(live_server, hostile):
    return Caller(live_server, hostile)


@pytest.fixture
def signed_in(live_server, hostile, alice):
    client = Client()
    client.force_login(alice)
    confirm(client)
    return Caller(live_server, hostile, client)


def test_mails_of_a_reset_lead_to_us(stranger, alice):
    asked = stranger.post("/accounts/password/reset/", email=alice.email)
    _, _, path, *_ = urlsplit(links_of(mail.outbox[0].body)[0])
    opened = stranger.get(path)
    done = stranger.post(
        opened[1]["Location"],
        password1=LONG,
        password2=LONG,
    )

    asked_mail, done_mail = mail.outbox
    assert [reply[0] for reply in (asked, opened, done)] == [302, 302, 302]
    for reply in (asked, opened, done):
        assert reply[1]["Location"].startswith("/accounts/password/reset/")
    for letter in (asked_mail, done_mail):
        assert_ours(f"{letter.subject}\n{letter.body}", some=True)
    assert "/accounts/password/reset/" in asked_mail.body
    alice.refresh_from_db()
    assert alice.check_password(LONG)


def test_a_mail_to_an_unknown_address_leads_nowhere_else(stranger, db):
    stranger.post("/accounts/password/reset/", email="nobody@assay.example")

    [letter] = mail.outbox
    assert_ours(letter.body)


def test_mails_of_a_member_s_own_changes_lead_to_us(signed_in, alice):
    changed = signed_in.post(f"{HOME}/profile/password/", current=PASSWORD, new=LONG)
    asked = signed_in.post("/accounts/address/change/", email="alice@new.example")

    assert (changed[0], asked[0]) == (302, 302)
    assert [letter.to for letter in mail.outbox] == [
        [alice.email],
        ["alice@new.example"],
    ]
    for letter in mail.outbox:
        assert_ours(letter.body, some=True)


def test_an_invitation_leads_to_us_in_the_mail_and_on_the_page(signed_in, alice):
    status, _, page = signed_in.post(
        f"{HOME}/members/invite/", email="dana@north.example", roles="viewer"
    )

    [letter] = mail.outbox
    assert status == 200
    assert f"{OURS}/invitation/" in page
    assert_ours(letter.body, some=True)
    assert_ours(page, some=True)


def test_a_sign_in_leads_to_no_host_that_its_sender_names(stranger, alice):
    page = f"http://{stranger.host}/elsewhere/"
    status, headers, _ = stranger.post(
        "/accounts/login/", login=alice.email, password=PASSWORD, next=page
    )

    assert (status, headers["Location"]) == (302, "/")


def test_single_sign_on_comes_back_to_us(stranger, alice_team, settings):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    with serve_openid() as provider:
        make_single_sign_on(team=alice_team, issuer=provider.issuer)
        status, headers, _ = stranger.get(
            "/accounts/single-sign-on/alice-health/go/?agreed="
        )

    asked = parse_qs(urlsplit(headers["Location"]).query)
    assert status == 302
    assert asked["redirect_uri"] == [
        f"{OURS}/accounts/single-sign-on/alice-health/back/"
    ]


def test_pages_name_no_other_host(stranger, signed_in, alice_tenant):
    for caller, target in (
        (stranger, "/accounts/login/"),
        (stranger, "/api/docs/start/"),
        (signed_in, f"{HOME}/"),
        (signed_in, f"{HOME}/settings/sign-in/"),
        (signed_in, f"{HOME}/api-keys/"),
    ):
        status, headers, page = caller.get(target)
        assert status == 200, target
        assert FOREIGN.search(f"{headers}{page}") is None, target


def test_redirects_of_strangers_stay_paths(stranger, alice_team):
    for target in (f"{HOME}/users/", "/accounts/login", "/admin/", "//evil.example/"):
        status, headers, _ = stranger.get(target)
        location = headers.get("Location", "/")
        assert status in {301, 302, 404}, target
        assert location.startswith("/"), target
        assert not location.startswith("//"), target


def test_the_redirect_to_https_leads_to_the_public_address(settings):
    # Both are read when a server starts: a test client starts one of its own.
    settings.SECURE_SSL_REDIRECT, settings.SECURE_SSL_HOST = True, "assay.example"

    target = "/accounts/login/?next=/"
    reply = Client().get(target, headers={"Host": f"{EVIL}:8443"})
    assert (reply.status_code, reply["Location"]) == (301, f"{OURS}{target}")
    # A caller would not notice that its key goes unencrypted.
    for target in ("/v2/providers", "/v3/orders", "/fhir/R4/Patient"):
        for call in (Client().get, Client().post):
            refused = call(target, headers={"x-service-api-key": "unread"})
            assert refused.status_code == 403
            assert b"https_required" in refused.content
            assert "Location" not in refused
            assert {name: refused.get(name) for name in EVERYWHERE} == EVERYWHERE
    assert Client().get("/metrics").status_code != 403  # a scrape, by address
    assert Client().get("/metrics/v2/").status_code == 403


def test_answers_of_the_api_link_to_us(stranger, alice_tenant):
    user = make_user(tenant=alice_tenant)
    key = make_api_key(tenant=alice_tenant)
    kind = {"x-service-api-key": key, "Content-Type": "application/json"}
    body = json.dumps({"user_id": str(user.uuid)}).encode()

    link = stranger.call("POST", "/v2/link/token", body, **kind)
    portal = stranger.call(
        "POST",
        f"/v2/user/{user.uuid}/create_portal_url",
        b'{"context":"launch"}',
        **kind,
    )
    providers = stranger.get("/v2/providers", **kind)

    for status, _, text in (link, portal, providers):
        assert status == 200, text
        assert_ours(text, some=True)


def test_the_openapi_document_s_server_is_ours(stranger, monkeypatch):
    # Making the whole document takes seconds, and its operations name no server.
    monkeypatch.setattr(document, "SchemaGenerator", TinyGenerator)
    monkeypatch.setattr(document, "_made", {})

    _, _, text = stranger.get("/api/schema/")

    assert [each["url"] for each in yaml.safe_load(text)["servers"]] == [OURS]
    assert FOREIGN.search(text) is None


def test_a_whole_address_as_target_changes_no_link(live_server, alice):
    caller = Caller(live_server, {})

    status, _, _ = caller.post(
        f"http://{EVIL}/accounts/password/reset/", email=alice.email
    )

    # A server reads it as its path (RFC 9112, 3.2.2) or finds no such page.
    assert status in {302, 400, 404}
    for letter in mail.outbox:
        assert_ours(letter.body, some=True)


def test_a_passkey_is_of_the_public_host(stranger, settings):
    def asked():
        page = "/accounts/passkeys/sign-in/"
        data = json.loads(stranger.get(page, Accept="application/json")[2])
        return data["request_options"]["publicKey"]["rpId"]

    public = asked()
    settings.PUBLIC_URL = "http://127.0.0.1:8000"

    assert (public, asked()) == ("assay.example", "localhost")


def test_a_host_that_is_not_listed_is_refused(live_server, settings, alice):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost"]

    replies = [
        Caller(live_server, {"host": EVIL}).post(path, email=alice.email)
        for path in ("/accounts/password/reset/", "/accounts/login/")
    ]

    assert [reply[0] for reply in replies] == [400, 400]
    assert mail.outbox == []
