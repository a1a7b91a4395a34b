"""A hostile OpenID provider, and others who forge what an honest one says.

What one answer at fault leads to is in tests/accounts/web/sign_in; here is what a
forger makes on purpose: keys and algorithms of their own, claims that break who reads
them, metadata that leads elsewhere, and an answer taken for another's.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from base64 import urlsafe_b64encode
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.models import (
    AuditEntry,
    Member,
    Membership,
    SingleSignOn,
    SingleSignOnIdentity,
)
from accounts.states import Role
from tests.factories.openid import (
    CLIENT_ID,
    CLIENT_SECRET,
    OpenIdProvider,
    make_single_sign_on,
    serve_openid,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("as_web_role")]
DOOR = "/accounts/single-sign-on/alice-health/"
FORGER = generate_private_key(SECP256R1())
KEY_OF_FORGER = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(FORGER.public_key()))


class HostileProvider(OpenIdProvider):
    """`forge` makes the token of its claims, `answers` stand in for paths' own."""

    forge: Any = None
    answers: Any = {}

    def token(self, asked):
        honest = super().token(asked)
        if self.forge is None:
            return honest
        return self.forge(jwt.decode(honest, options={"verify_signature": False}))

    def answer(self, path, form, auth):
        return self.answers.get(path) or super().answer(path, form, auth)


@pytest.fixture(scope="module")
def served():
    with serve_openid(HostileProvider) as provider:
        yield provider


@pytest.fixture
def provider(served, settings, alice_team):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    cache.clear()
    issuer, key = served.issuer, served.own_key
    served.__init__()
    served.issuer, served.key, served.own_key = issuer, key, key
    served.forge, served.answers = None, {}
    make_single_sign_on(team=alice_team, issuer=issuer, roles=(Role.VIEWER,))
    return served


def encoded(value):
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(content).decode().rstrip("=")


def signed(header, claims, sign):
    """A token of any header, whose payload may be bytes of the forger's own."""
    text = f"{encoded(header)}.{encoded(claims)}"
    return f"{text}.{encoded(sign(text.encode()))}"


def by_secret(secret):
    return lambda text: hmac.new(secret, text, hashlib.sha256).digest()


def by_provider(provider):
    """Sign as it does, whatever the content."""
    algorithm = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
    return lambda text: algorithm.sign(text, provider.own_key)


def public_bytes(provider, encoding=Encoding.PEM):
    return provider.own_key.public_key().public_bytes(
        encoding, PublicFormat.SubjectPublicKeyInfo
    )


def come_back(provider, client, **more):
    """Go to the provider and come back; the answer of Assay."""
    cache.clear()
    gone = client.get(f"{DOOR}go/")
    if "Location" not in gone:
        return gone
    query = parse_qs(urlsplit(provider.sign_in(gone["Location"])).query)
    query = {name: text[0] for name, text in query.items()}
    return client.get(
        f"{DOOR}back/", {k: v for k, v in {**query, **more}.items() if v is not None}
    )


def written():
    return (
        Membership.objects.count(),
        Member.objects.count(),
        SingleSignOnIdentity.objects.count(),
        AuditEntry.unscoped.count(),
    )


def assert_refused(reply, client, name, *reasons):
    assert reply.context is not None, name
    reason = reply.context.get("reason")
    assert reason in reasons, (name, reason)
    assert reply.status_code in (HTTPStatus.FORBIDDEN, HTTPStatus.SERVICE_UNAVAILABLE)
    assert "_auth_user_id" not in client.session, name


def forgeries(provider):
    """Tokens of correct claims with a signature of another key or none, by name."""

    def of_forger(**header):
        return lambda claims: jwt.encode(
            claims, FORGER, algorithm="ES256", headers={"kid": "one", **header}
        )

    def by_public_key(secret):
        header = {"alg": "HS256", "typ": "JWT", "kid": "one"}
        return lambda claims: signed(header, claims, by_secret(secret))

    pem = public_bytes(provider)
    made = {
        "HS256 with the public key": by_public_key(pem),
        "HS256 with its DER": by_public_key(public_bytes(provider, Encoding.DER)),
        "HS256 with the client secret": by_public_key(CLIENT_SECRET.encode()),
        "HS256 with nothing": by_public_key(b""),
        "the forger's key": of_forger(),
        "the forger's key in the header": of_forger(jwk=KEY_OF_FORGER),
        "a key at the forger's address": of_forger(jku=f"{provider.issuer}/mine"),
        "a certificate in the header": of_forger(x5c=["MIIB"], x5u="https://x.example"),
        "a file for a key": of_forger(kid="../../../../dev/null"),
        "no key named": of_forger(kid="' OR 1=1 --"),
        "an extension that nobody knows": lambda claims: jwt.encode(
            claims,
            provider.own_key,
            algorithm="ES256",
            headers={"kid": "one", "crit": ["exp-grace"], "exp-grace": 1},
        ),
        # CVE-2022-21449: both numbers of the signature are nought.
        "a signature of noughts": lambda claims: signed(
            {"alg": "ES256", "kid": "one"}, claims, lambda _: bytes(64)
        ),
        "a claim changed afterwards": lambda claims: ".".join(
            part if at != 1 else encoded({**claims, "email": "alice@north.example"})
            for at, part in enumerate(
                jwt.encode(
                    claims, provider.own_key, "ES256", headers={"kid": "one"}
                ).split(".")
            )
        ),
    }
    for none in ("none", "None", "nOnE", ""):
        made[f"alg {none!r}"] = lambda claims, none=none: signed(
            {"alg": none, "kid": "one"}, claims, lambda _: b""
        )
    return made


def test_no_forged_signature_lets_anybody_in(provider):
    before = written()
    # Also where the metadata says that it signs so.
    for about in ({}, {"id_token_signing_alg_values_supported": ["none", "HS256"]}):
        provider.about = about
        for name, forge in forgeries(provider).items():
            if about and "HS256" not in name and "alg" not in name:
                continue
            provider.forge = forge
            client = Client()
            reply = come_back(provider, client)
            assert_refused(reply, client, name, "not_vouched")
            # No address that a token names is asked for.
            assert "/mine" not in provider.asked

    assert written() == before
    provider.about, provider.forge = {}, None
    client = Client()
    come_back(provider, client)
    assert "_auth_user_id" in client.session


def test_claims_that_break_a_reader_are_refused_without_an_error(provider):
    """Each of these is signed by the provider's own key."""
    before = written()
    deep = b"[" * 100_000 + b"]" * 100_000
    cases = {
        "exp is endless": ({"exp": float("inf")}, "not_vouched"),
        "exp is no number": ({"exp": float("nan")}, "not_vouched"),
        "exp is a list": ({"exp": [1]}, "not_vouched"),
        "iat is endless": ({"iat": float("inf")}, "not_vouched"),
        "nbf is endless": ({"nbf": float("inf")}, "not_vouched"),
        "nbf lies ahead": ({"nbf": 4_000_000_000}, "not_vouched"),
        "nonce is a list": ({"nonce": ["n"]}, "not_vouched"),
        "nonce is nothing": ({"nonce": None}, "not_vouched"),
        "nonce is half a letter": ({"nonce": "\ud800"}, "not_vouched"),
        "aud is an object": ({"aud": {CLIENT_ID: 1}}, "not_vouched"),
        "iss is a list": ({"iss": [provider.issuer]}, "not_vouched"),
        "iss has a slash more": ({"iss": f"{provider.issuer}/"}, "not_vouched"),
        "sub is a number": ({"sub": 1}, "not_vouched"),
        "sub is empty": ({"sub": ""}, "subject_invalid"),
        "sub has NUL": ({"sub": "p\0"}, "subject_invalid"),
        "sub is half a letter": ({"sub": "\ud800"}, "subject_invalid"),
        "email is a list": ({"email": ["dana@north.example"]}, "email_missing"),
        "email has NUL": ({"email": "dana\0@north.example"}, "email_missing"),
        "email is half a letter": ({"email": "\ud800@north.example"}, "email_missing"),
        "email has lines": (
            {"email": "dana@north.example\r\nBcc: eve@elsewhere.example"},
            "email_missing",
        ),
        "email is two": (
            {"email": "eve@elsewhere.example,dana@north.example"},
            "email_missing",
        ),
        "email is none": ({"email": "north.example"}, "email_missing"),
        "email is endless": ({"email": f"{'d' * 5000}@north.example"}, "email_missing"),
        "email is of a name like ours": (
            {"email": "dana@north.example.elsewhere.example"},
            "not_invited",
        ),
        **{
            f"email_verified is {value!r}": (
                {"email_verified": value},
                "email_unverified",
            )
            for value in (False, "false", 0, 1, "", "yes", [True], {"true": True})
        },
    }
    header = {"alg": "ES256", "kid": "one"}
    for name, (changed, reason) in cases.items():
        provider.forge = lambda claims, changed=changed: signed(
            header, {**claims, **changed}, by_provider(provider)
        )
        client = Client()
        assert_refused(come_back(provider, client), client, name, reason)
    for name, payload in {
        "payload is too deep": deep,
        "payload is a list": b"[]",
        "payload is no JSON": b"\xff",
    }.items():
        provider.forge = lambda _, payload=payload: signed(
            header, payload, by_provider(provider)
        )
        client = Client()
        assert_refused(come_back(provider, client), client, name, "not_vouched")

    assert written() == before


def test_a_name_that_breaks_a_reader_is_left_out(provider):
    header = {"alg": "ES256", "kid": "one"}
    for at, (name, stored) in enumerate(
        [("Da\0na", ""), ("\ud800", ""), ([1], ""), ("D" * 5000, "D" * 150)]
    ):
        changed = {"sub": f"p-{at}", "email": f"d{at}@north.example", "name": name}
        provider.forge = lambda claims, changed=changed: signed(
            header, {**claims, **changed}, by_provider(provider)
        )
        client = Client()

        come_back(provider, client)

        assert Member.objects.get(pk=client.session["_auth_user_id"]).name == stored


def test_metadata_that_leads_elsewhere_is_refused(provider):
    before = written()
    about = "/.well-known/openid-configuration"
    honest = provider.answer(about, {}, "")[1]
    hostile = {
        "another issuer": {**honest, "issuer": "https://elsewhere.example"},
        "no issuer": {**honest, "issuer": None},
        "keys in the network": {**honest, "jwks_uri": "https://10.0.0.1/keys"},
        "keys of the cloud": {**honest, "jwks_uri": "http://169.254.169.254/latest"},
        "keys in a file": {**honest, "jwks_uri": "file:///etc/passwd"},
        "a token for an address inside": {
            **honest,
            "token_endpoint": "https://[::ffff:10.0.0.1]/token",
        },
        "a name inside": {**honest, "token_endpoint": "https://localhost/token"},
        "a number for a name": {**honest, "token_endpoint": "https://2130706433/"},
        "a user in the address": {
            **honest,
            "authorization_endpoint": "https://id.north.example@elsewhere.example/",
        },
        "a page that runs": {**honest, "authorization_endpoint": "javascript:alert(1)"},
        "userinfo inside": {**honest, "userinfo_endpoint": "http://192.168.0.1/"},
        "an address that is a list": {
            **honest,
            "token_endpoint": ["https://x.example"],
        },
        "algorithms that are a number": {
            **honest,
            "id_token_signing_alg_values_supported": 5,
        },
        "algorithms that are nothing": {
            **honest,
            "id_token_signing_alg_values_supported": None,
        },
        "ways that are a number": {
            **honest,
            "token_endpoint_auth_methods_supported": 7,
        },
        "a list": [],
        "text": "text",
    }
    for name, document in hostile.items():
        provider.answers = {about: (200, document)}
        client = Client()
        assert_refused(come_back(provider, client), client, name, "unavailable")
    provider.answers = {about: (302, {"location": "http://169.254.169.254/"})}
    client = Client()
    assert_refused(come_back(provider, client), client, "elsewhere", "unavailable")

    assert written() == before


def test_a_key_set_at_fault_vouches_for_nobody(provider):
    before = written()
    numbers = {"kty": "EC", "crv": "P-256", "use": "sig", "kid": "one"}
    secret = encoded(b"of the forger's own: 32 bytes...")
    sets = {
        "no keys": ({}, "unavailable"),
        "keys that are an object": ({"keys": {"kid": "one"}}, "unavailable"),
        "keys of numbers": ({"keys": [1, None, "one"]}, "not_vouched"),
        "a point on no curve": (
            {"keys": [{**numbers, "x": encoded(b"\1" * 32), "y": encoded(b"\2" * 32)}]},
            "not_vouched",
        ),
        "a point that is no text": (
            {"keys": [{**numbers, "x": 1, "y": []}]},
            "not_vouched",
        ),
        "a curve of nobody": (
            {"keys": [{**numbers, "crv": ["P-256"], "x": "AA", "y": "AA"}]},
            "not_vouched",
        ),
        "a shared secret": (
            {"keys": [{"kty": "oct", "k": secret, "kid": "one", "alg": "ES256"}]},
            "not_vouched",
        ),
        "two keys of one name": ({"keys": [KEY_OF_FORGER] * 2}, "not_vouched"),
    }
    for name, (keys, reason) in sets.items():
        provider.answers = {"/keys": (200, keys)}
        client = Client()
        assert_refused(come_back(provider, client), client, name, reason)

    # A key that is broken in a day: RFC 7518, 3.3 asks for 2048 bits.
    weak = rsa.generate_private_key(65537, 1024)  # noqa: S505 - the fault
    shown = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key()))
    provider.answers = {"/keys": (200, {"keys": [{**shown, "kid": "one"}]})}
    provider.about = {"id_token_signing_alg_values_supported": ["RS256"]}
    algorithm = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256)
    provider.forge = lambda claims: signed(
        {"alg": "RS256", "kid": "one"}, claims, lambda text: algorithm.sign(text, weak)
    )
    client = Client()
    assert_refused(come_back(provider, client), client, "1024 bits", "not_vouched")

    assert written() == before


def test_an_answer_of_another_provider_is_not_taken_for_this_ones(provider):
    """Mix-up (RFC 9700, 4.4; RFC 9207): the answer has to name who was asked."""
    before = written()
    says_so = {"authorization_response_iss_parameter_supported": True}

    for about, issuer in (
        ({}, "https://elsewhere.example"),
        ({}, f"{provider.issuer}/"),
        (says_so, None),
        (says_so, ""),
    ):
        provider.about = about
        client = Client()
        reply = come_back(provider, client, iss=issuer)
        assert_refused(reply, client, (about, issuer), "not_vouched")
        # The code is not shown to a token endpoint that may be the attacker's.
        assert "/token" not in provider.asked

    assert written() == before
    client = Client()
    come_back(provider, client)
    assert "_auth_user_id" in client.session


def test_a_code_and_a_state_count_once_and_for_ten_minutes(provider):
    """Also for a provider that gives a token for any code."""
    first = Client()
    gone = first.get(f"{DOOR}go/")["Location"]
    nonce = parse_qs(urlsplit(gone).query)["nonce"][0]
    caught = {}

    def remember(claims):
        caught["token"] = jwt.encode(
            claims, provider.own_key, "ES256", headers={"kid": "one"}
        )
        return caught["token"]

    provider.forge = remember
    back = urlsplit(provider.sign_in(gone))
    first.get(back.path, parse_qs(back.query))
    assert "_auth_user_id" in first.session

    # A token of that sign-in is given out in another: its nonce is not this one's.
    provider.forge = lambda claims: caught["token"]
    second = Client()
    assert_refused(come_back(provider, second), second, "token", "not_vouched")
    assert jwt.decode(caught["token"], options={"verify_signature": False})[
        "nonce"
    ] == (nonce)

    # The same answer once more, in the browser that it was for.
    provider.forge = None
    first.post("/accounts/logout/")
    again = first.get(back.path, parse_qs(back.query))
    assert_refused(again, first, "state", "expired")

    third = Client()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        late = urlsplit(provider.sign_in(third.get(f"{DOOR}go/")["Location"]))
        clock.shift(601)
        reply = third.get(late.path, parse_qs(late.query))
    assert_refused(reply, third, "late", "expired")
    assert third.get(f"{DOOR}back/", {"code": "c"}).context["reason"] == "expired"


def test_a_name_that_leads_inside_after_it_was_checked_is_not_called(
    provider, settings, monkeypatch
):
    """DNS rebinding: the name is looked up at the call, and its address is checked."""
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = []
    port = provider.issuer.rpartition(":")[2]
    SingleSignOn.objects.update(issuer=f"https://rebind.north.example:{port}")
    connected = []
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, port, *_, **__: [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254")
        ],
    )
    monkeypatch.setattr(
        socket, "create_connection", lambda place, *_, **__: connected.append(place)
    )
    client = Client()

    reply = client.get(f"{DOOR}go/")

    assert_refused(reply, client, "rebinding", "unavailable")
    assert connected == []
    assert provider.asked == []


# What browsers read as an address of another host, or as a script.
ELSEWHERE = (
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "///elsewhere.example/",
    "/\\elsewhere.example/",
    "/\t/elsewhere.example/",
    "\x08//elsewhere.example/",
    "javascript:alert(1)",
    "https://testserver.elsewhere.example/",
)


def test_no_page_of_sign_in_leads_on_to_another_site(provider, alice, alice_web):
    def leads(client, method, path, **fields):
        cache.clear()
        reply = getattr(client, method)(path, fields)
        return urlsplit(reply.headers.get("Location", ""))

    for onward in ELSEWHERE:
        stranger = Client()
        member = Client()
        member.force_login(alice)
        for client, method, path, fields in (
            (stranger, "get", "/accounts/login/", {}),
            (stranger, "get", "/accounts/single-sign-on/", {"team": "alice-health"}),
            (stranger, "get", DOOR, {}),
            (member, "get", "/accounts/login/", {}),
            (member, "get", "/accounts/confirm/", {}),
            (member, "get", "/accounts/confirm/single-sign-on/", {}),
            (member, "get", "/accounts/second-factor/confirm/", {}),
            (member, "get", "/accounts/second-factor/", {}),
            (
                member,
                "post",
                "/accounts/confirm/",
                {"password": "a long and simple sentence"},
            ),
            (member, "post", "/accounts/logout/", {}),
        ):
            place = leads(client, method, path, next=onward, **fields)
            assert "elsewhere" not in place.netloc, (path, onward)
            assert place.scheme in ("", "http"), (path, onward)
            if place.path:
                assert place.path.startswith("/"), (path, onward)
                assert not place.path.startswith(("//", "/\\")), (path, onward)
        gone = stranger.get(f"{DOOR}go/", {"next": onward})
        back = urlsplit(provider.sign_in(gone["Location"]))
        cache.clear()
        came = stranger.get(back.path, parse_qs(back.query))
        assert came["Location"] == "/t/alice-health/sandbox/", onward
