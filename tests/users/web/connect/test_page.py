from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import time_machine
from django.test import Client

from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection
from users.operations.connect.link_sessions import (
    LinkRequest,
    build_connect_link_url,
    create_connect_link,
    end_connect_link,
    sign_connect_link_token,
)
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
BACK = "https://north.example/done"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_20418")


@pytest.fixture
def cloud(monkeypatch):
    """A cloud source that says yes, in the place of every real one."""
    source = FakeSource("fitbit")
    monkeypatch.setattr("users.gateways.sources.SOURCE_GATEWAYS", {source.name: source})
    return source


def link(user, **wanted):
    return create_connect_link(user=user, actor=ACTOR, request=LinkRequest(**wanted))


def opened(session):
    """A browser that has opened the link."""
    browser = Client()
    browser.get("/connect/", {"token": sign_connect_link_token(session)})
    return browser


def page_of(session):
    return f"/connect/{session.uuid}/"


def test_opening_a_link_takes_the_token_out_of_the_address(user, settings):
    settings.HTTPS = True
    session = link(user)

    reply = Client().get("/connect/", {"token": sign_connect_link_token(session)})

    cookie = reply.cookies[f"__Secure-link_{session.uuid.hex}"]
    session.refresh_from_db()
    assert reply.status_code == 302
    assert reply["Location"] == page_of(session)
    assert reply["Referrer-Policy"] == "no-referrer"
    assert "no-store" in reply["Cache-Control"]
    assert cookie.value == sign_connect_link_token(session)
    assert (cookie["path"], cookie["samesite"]) == ("/connect/", "Lax")
    assert cookie["httponly"]
    assert cookie["secure"]
    assert session.opened_at is not None


def test_the_page_is_the_teams_and_names_nobody(user, alice_tenant):
    alice_tenant.brand_information = {
        "company_name": "North Health",
        "brand_color": "#FFD400",
        "support_email": "help@north.example",
    }
    alice_tenant.logo_url = "https://north.example/logo.png?size=2;x"
    alice_tenant.save()
    session = link(user)

    reply = opened(session).get(page_of(session))

    text = reply.content.decode()
    policy = reply["Content-Security-Policy"]
    assert "North Health receives past and new health data" in text
    assert "help@north.example" in text
    assert "/connect/colors/ffd400.css" in text
    assert "img-src 'self' https://north.example;" in f"{policy};"
    assert user.client_user_id not in text
    assert str(user.uuid) not in text
    assert reply["Referrer-Policy"] == "same-origin"
    assert "no-store" in reply["Cache-Control"]
    assert audited(alice_tenant)[-1] == ("read", "sources", str(user.uuid))


def test_sources_are_listed_by_kind_with_what_is_connected(user, cloud):
    connect_source(user=user, actor=ACTOR, provider="dexcom_v3")
    session = link(user)

    context = opened(session).get(page_of(session)).context

    listed = {
        kind: [(each.provider.slug, each.is_connected) for each in sources]
        for kind, sources in context["kinds"]
    }
    # Beside a real source no made-up one is offered.
    assert listed["Rings, watches and trackers"] == [("fitbit", False)]
    assert listed["Glucose sensors and meters"] == [("dexcom_v3", True)]
    assert listed["Files"] == [("manual", False)]


def test_the_page_costs_the_same_however_many_are_connected(
    user, django_assert_num_queries
):
    session = link(user)
    browser = opened(session)
    for providers in ((), ("oura",), ("fitbit", "dexcom_v3", "withings", "polar")):
        for provider in providers:
            connect_source(user=user, actor=ACTOR, provider=provider)
        # Tenant, session, connections and credentials; the audit is not counted.
        with django_assert_num_queries(4):
            browser.get(page_of(session))


def test_a_search_finds_by_name_description_and_kind(user, cloud):
    session = link(user)
    browser = opened(session)

    def found(text):
        kinds = browser.get(page_of(session), {"q": text}).context["kinds"]
        return [each.provider.slug for _, sources in kinds for each in sources]

    assert found("FITB") == ["fitbit"]
    assert found("watches and trackers") == ["fitbit", "oura"]
    assert found("abacus") == []


def test_a_browser_without_the_links_cookie_is_a_stranger(user, alice_tenant):
    session, other = link(user), link(make_user(tenant=alice_tenant))
    before = stored_rows(alice_tenant)

    for browser, address in (
        (Client(), page_of(session)),
        (opened(other), page_of(session)),
        (Client(), f"/connect/{uuid4()}/"),
        (Client(), "/connect/none/"),
        (Client(), "/connect/?token=12-abc.def"),
    ):
        reply = browser.get(address)
        assert reply.status_code == 404, address
        assert "no-store" in reply["Cache-Control"]
    assert opened(other).post(f"{page_of(session)}oura/demo/").status_code == 404
    after = stored_rows(alice_tenant)
    after["LinkSession"] = before["LinkSession"]  # the other one was opened
    assert after == before


def test_two_links_in_one_browser_stay_apart(user, alice_tenant):
    session, other = link(user), link(make_user(tenant=alice_tenant))
    browser = opened(session)
    browser.get("/connect/", {"token": sign_connect_link_token(other)})

    pages = [browser.get(page_of(each)) for each in (session, other)]

    assert [each.context["session"] for each in pages] == [session, other]


def test_an_ended_link_says_so(user):
    session = link(user)
    browser = opened(session)
    end_connect_link(session=session, actor=ACTOR)

    replies = [
        browser.get(page_of(session)),
        browser.get(build_connect_link_url(session)),
    ]

    assert [each.status_code for each in replies] == [410, 410]


def test_a_cloud_source_is_connected_after_its_own_sign_in(user, alice_tenant, cloud):
    session = link(user)
    browser = opened(session)

    away = browser.get(f"{page_of(session)}fitbit/sign-in/")
    asked = parse_qs(urlsplit(away["Location"]).query)
    reply = browser.get(
        "/connect/back/fitbit/", {"state": asked["state"][0], "code": "good"}
    )

    connection = Connection.objects.for_tenant(alice_tenant).get()
    assert away.status_code == 302
    assert away["Location"].startswith("https://cloud.example/authorise?")
    assert asked["redirect_uri"] == ["http://127.0.0.1:8000/connect/back/fitbit/"]
    assert reply["Location"] == f"{page_of(session)}?connected=fitbit"
    assert (connection.user, connection.provider) == (user, "fitbit")
    assert cloud.connected == [("good", asked["redirect_uri"][0])]
    assert "Fitbit is connected." in browser.get(reply["Location"]).content.decode()


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"code": "bad"}, "source_refused"),
        ({"code": "slow"}, "source_unavailable"),
        ({"error": "access_denied"}, "access_denied"),
    ],
)
def test_a_sign_in_that_fails_connects_nothing(
    user, alice_tenant, cloud, told, problem
):
    session = link(user)
    browser = opened(session)
    state = state_of(browser, session)
    before = stored_rows(alice_tenant)

    reply = browser.get("/connect/back/fitbit/", {"state": state, **told})

    assert reply["Location"] == f"{page_of(session)}?problem={problem}&source=fitbit"
    assert stored_rows(alice_tenant) == before


def test_a_sign_in_counts_for_the_browser_and_link_it_began_in(
    user, alice_tenant, cloud
):
    session, other = link(user), link(make_user(tenant=alice_tenant))
    state = state_of(opened(session), session)
    before = stored_rows(alice_tenant)

    replies = [
        browser.get("/connect/back/fitbit/", {"state": told, "code": "good"})
        for browser, told in (
            (Client(), state),
            (opened(other), state),
            (opened(session), "made-up"),
            (opened(session), ""),
        )
    ]

    assert [reply.status_code for reply in replies] == [404] * 4
    assert cloud.connected == []
    assert stored_rows(alice_tenant)["Connection"] == before["Connection"]


def test_a_sign_in_of_another_source_connects_nothing(user, alice_tenant, cloud):
    session = link(user)
    browser = opened(session)
    state = state_of(browser, session)

    reply = browser.get("/connect/back/oura/", {"state": state, "code": "good"})

    assert "problem=access_denied" in reply["Location"]
    assert cloud.connected == []


def test_a_sign_in_takes_half_an_hour_at_most(user, cloud):
    with time_machine.travel(NOON, tick=False):
        session = link(user)
        browser = opened(session)
        state = state_of(browser, session)
    with time_machine.travel(NOON + timedelta(minutes=30), tick=False):
        reply = browser.get("/connect/back/fitbit/", {"state": state, "code": "good"})

    assert "problem=sign_in_expired" in reply["Location"]
    assert cloud.connected == []


def test_people_go_back_to_where_the_key_said(user, cloud):
    session = link(
        user, redirect_url=BACK, redirects_on_error=True, redirects_on_close=True
    )
    browser = opened(session)
    state = state_of(browser, session)

    def back(**told):
        return browser.get("/connect/back/fitbit/", {"state": state, **told})

    assert back()["Location"] == (
        f"{BACK}?state=error&provider=fitbit&error=access_denied"
    )
    assert back(code="good")["Location"] == f"{BACK}?state=success&provider=fitbit"
    closed = browser.get(f"{page_of(session)}close/", {"redirect_url": "https://x.y"})
    assert closed["Location"] == f"{BACK}?state=closed"
    policy = browser.get(page_of(session))["Content-Security-Policy"]
    assert "form-action 'self' https://north.example" in policy


def test_without_a_redirect_people_stay(user):
    session = link(user)

    reply = opened(session).get(f"{page_of(session)}close/")

    assert reply.status_code == 200


def test_a_source_that_the_link_leaves_out_is_not_offered(user, alice_tenant, cloud):
    session = link(user, filter_on_providers=("zwift", "manual"))
    browser = opened(session)
    before = stored_rows(alice_tenant)

    kinds = browser.get(page_of(session)).context["kinds"]
    reply = browser.get(f"{page_of(session)}fitbit/sign-in/")

    assert [each.provider.slug for _, found in kinds for each in found] == ["manual"]
    assert "problem=source_not_offered" in reply["Location"]
    assert stored_rows(alice_tenant)["Connection"] == before["Connection"]


def state_of(browser, session):
    away = browser.get(f"{page_of(session)}fitbit/sign-in/")
    return parse_qs(urlsplit(away["Location"]).query)["state"][0]


def test_demo_data_is_connected_by_a_press(user, alice_tenant, monkeypatch):
    monkeypatch.setattr("users.operations.demo_sources.DEMO_DAYS", 1)
    session = link(user)
    browser = opened(session)

    done = browser.post(f"{page_of(session)}freestyle_libre/demo/")
    again = browser.post(f"{page_of(session)}freestyle_libre/demo/")

    connection = Connection.objects.for_tenant(alice_tenant).get()
    assert done["Location"] == f"{page_of(session)}?connected=freestyle_libre"
    assert "problem=source_not_offered" in again["Location"]
    assert connection.is_demo
