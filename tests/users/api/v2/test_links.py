from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import LinkSession
from users.operations.connect.link_sessions import (
    create_connect_link,
    end_connect_link,
    find_open_connect_link,
    sign_connect_link_token,
)

pytestmark = pytest.mark.django_db
TOKEN = "/v2/link/token"
PROVIDERS = "/v2/link/providers"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def test_a_key_makes_a_link(alice_api, alice_tenant, user, settings):
    settings.PUBLIC_URL = "https://assay.example"
    settings.OURA_CLIENT_ID = settings.OURA_CLIENT_SECRET = "our"

    reply = alice_api.post(
        TOKEN,
        {
            "user_id": str(user.uuid),
            "provider": "Oura",
            "redirect_url": "https://north.example/",
            "filter_on_providers": ["oura", "fitbit"],
            "on_error": "redirect",
            "on_close": None,
        },
    )

    session = LinkSession.objects.for_tenant(alice_tenant).get()
    token = sign_connect_link_token(session)
    assert reply.status_code == 200
    assert reply.json() == {
        "link_token": token,
        "link_web_url": f"https://assay.example/connect/?token={token}",
    }
    assert find_open_connect_link(token).user == user
    assert (session.provider, session.filter_on_providers) == (
        "oura",
        ["oura", "fitbit"],
    )
    assert session.redirect_url == "https://north.example/"
    assert (session.redirects_on_error, session.redirects_on_close) == (True, False)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"user_id": "7"}, (["body", "user_id"], "uuid_parsing")),
        ({"provider": "abacus"}, (["body", "provider"], "enum")),
        (
            {"redirect_url": "http://north.example/"},
            (["body", "redirect_url"], "value_error"),
        ),
        ({"on_error": "stay"}, (["body", "on_error"], "enum")),
        ({"on_close": "redirect"}, (["body", "on_close"], "value_error")),
        (
            {"filter_on_providers": ["oura", "abacus"]},
            (["body", "filter_on_providers", 1], "enum"),
        ),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else "",
)
def test_a_body_at_fault_makes_no_link(alice_api, alice_tenant, user, body, line):
    before = stored_rows(alice_tenant)

    reply = alice_api.post(TOKEN, {"user_id": str(user.uuid), **body})

    assert error_lines(reply) == [line]
    assert stored_rows(alice_tenant) == before


def test_a_source_that_nothing_connects_here_gets_no_link(
    alice_production_api, alice_production
):
    user = make_user(tenant=alice_production)
    before = stored_rows(alice_production)

    replies = [
        alice_production_api.post(
            TOKEN, {"user_id": str(user.uuid), "provider": provider}
        )
        for provider in ("zwift", "oura", "apple_health_kit")
    ]

    assert [reply.status_code for reply in replies] == [400, 400, 200]
    assert replies[0].json()["detail"] == "This source cannot be connected here."
    assert stored_rows(alice_production) != before
    assert LinkSession.objects.for_tenant(alice_production).count() == 1


def test_a_stranger_makes_no_link(charlie_api, alice_api, alice_tenant, user):
    before = stored_rows(alice_tenant)

    replies = [
        charlie_api.post(TOKEN, {"user_id": str(user.uuid)}),
        alice_api.post(TOKEN, {"user_id": str(uuid4())}),
    ]

    assert [reply.status_code for reply in replies] == [404, 404]
    assert stored_rows(alice_tenant) == before


def test_a_links_token_lists_what_it_offers(alice_tenant, user, monkeypatch, settings):
    settings.PUBLIC_URL = "https://assay.example"
    monkeypatch.setattr(
        "users.gateways.sources.SOURCE_GATEWAYS", {"fitbit": FakeSource("fitbit")}
    )
    session = create_connect_link(user=user, actor=ACTOR)
    token = sign_connect_link_token(session)

    reply = Client(headers={"x-link-token": token}).get(PROVIDERS)

    listed = {each["slug"]: each for each in reply.json()}
    assert reply.status_code == 200
    assert listed["fitbit"] == {
        "id": 2,
        "name": "Fitbit",
        "slug": "fitbit",
        "description": "Watches, trackers and scales",
        "logo": "https://assay.example/logos/fitbit.svg",
        "oauth_url": f"https://assay.example/connect/?token={token}&provider=fitbit",
        "auth_type": "oauth",
        "form_components": None,
    }
    assert listed["manual"]["oauth_url"] is None
    assert "Deprecation" not in reply
    assert audited(alice_tenant)[-1] == ("read", "sources", str(user.uuid))


def test_the_header_of_published_clients_is_an_alias(user, settings):
    session = create_connect_link(user=user, actor=ACTOR)
    headers = {
        "x-vital-link-token": sign_connect_link_token(session),
        "x-vital-api-key": "sk_us_whatever_the_client_has",
    }

    reply = Client(headers=headers).get(PROVIDERS)
    wrong = Client(headers=headers | {"x-link-token": "none"}).get(PROVIDERS)
    settings.API_FORMER_KEY_HEADER = False
    refused = Client(headers=headers).get(PROVIDERS)

    assert (reply.status_code, reply["Deprecation"][0]) == (200, "@")
    assert "manual" in {each["slug"] for each in reply.json()}
    assert (wrong.status_code, refused.status_code) == (401, 401)


def test_the_sign_in_of_an_answer_opens_the_link_on_the_way(user):
    session = create_connect_link(user=user, actor=ACTOR)

    reply = Client().get(
        "/connect/", {"token": sign_connect_link_token(session), "provider": "oura"}
    )

    assert reply["Location"] == f"/connect/{session.uuid}/oura/sign-in/"


def test_without_a_link_that_works_nothing_is_listed(alice_api, user):
    session = create_connect_link(user=user, actor=ACTOR)
    token = sign_connect_link_token(session)
    end_connect_link(session=session, actor=ACTOR)

    replies = [
        alice_api.get(PROVIDERS),
        Client().get(PROVIDERS),
        Client(headers={"x-link-token": token}).get(PROVIDERS),
    ]

    assert [reply.status_code for reply in replies] == [401, 401, 401]
    assert "x-link-token" in replies[0]["WWW-Authenticate"]


def test_a_links_token_reads_the_sign_in_of_one_source(
    alice_tenant, user, monkeypatch, settings
):
    settings.PUBLIC_URL = "https://assay.example"
    monkeypatch.setattr(
        "users.gateways.sources.SOURCE_GATEWAYS", {"fitbit": FakeSource("fitbit")}
    )
    token = sign_connect_link_token(create_connect_link(user=user, actor=ACTOR))
    holder = Client(headers={"x-vital-link-token": token})

    found = holder.get("/v2/link/provider/oauth/Fitbit")
    unknown = holder.get("/v2/link/provider/oauth/zwift")
    without = Client().get("/v2/link/provider/oauth/fitbit")

    assert (found.status_code, found.json()["slug"]) == (200, "fitbit")
    assert found.json()["oauth_url"] == (
        f"https://assay.example/connect/?token={token}&provider=fitbit"
    )
    assert audited(alice_tenant)[-1] == ("read", "sources", str(user.uuid))
    assert (unknown.status_code, unknown.json()["code"]) == (404, "source_not_offered")
    assert without.status_code == 401
