from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.users import make_regular_arrivals, make_user
from users.models import Arrival, Connection, User
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"


@pytest.fixture(autouse=True)
def _key(alice_tenant):
    make_api_key(tenant=alice_tenant)  # without one, that would need attention


def tile(reply, label):
    [found] = [
        view.tile
        for view in reply.context["overview"].tiles
        if view.tile.label == label
    ]
    return found


def attention(reply):
    return [
        (item.title, item.detail, item.url)
        for item in reply.context["overview"].attention
    ]


def arrive(user, provider, hours_ago):
    Arrival(
        tenant=user.tenant,
        user=user,
        provider=provider,
        resource="glucose",
        at=timezone.now() - timedelta(hours=hours_ago),
        received=12,
        created=12,
        updated=0,
        dropped=0,
    ).save(force_insert=True)


def break_source(user, provider):
    connect_source(user=user, actor=ACTOR, provider=provider)
    Connection.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider
    ).update(status="error", errored_at=timezone.now() - timedelta(hours=5))


def test_the_users_tile_shows_how_the_number_grew(alice_web, alice_tenant):
    for days in (0, 3, 10, 40):
        user = make_user(tenant=alice_tenant)
        User.objects.for_tenant(alice_tenant).filter(pk=user.pk).update(
            created_on=timezone.now() - timedelta(days=days)
        )

    users = tile(alice_web.get(PLACE), "Users")

    assert (users.number, users.detail) == (4, "2 new this week")
    assert users.trend == (1,) * 15 + (2,) * 7 + (3,) * 3 + (4,)


def test_a_week_without_new_users_is_said(alice_web, alice_tenant):
    make_user(tenant=alice_tenant)
    User.objects.for_tenant(alice_tenant).update(
        created_on=timezone.now() - timedelta(days=40)
    )

    users = tile(alice_web.get(PLACE), "Users")

    assert users.detail == "None new this week"
    assert users.trend_says == "Users, last 26 days, steady"


def test_a_broken_source_needs_attention_once_for_all_its_users(
    alice_web, alice_tenant
):
    first, second = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    break_source(first, "garmin")
    break_source(second, "garmin")
    connect_source(user=second, actor=ACTOR, provider="oura")

    reply = alice_web.get(PLACE)

    [(title, detail, url)] = attention(reply)
    assert title == "Garmin has an error for 2 users"
    assert detail.startswith("Of 2 connected")
    assert alice_web.get(url).context["pager"].total == 2
    with_source = tile(reply, "Users with a source")
    assert (with_source.number, with_source.detail) == (1, "2 connections in error")


def test_a_source_that_went_silent_needs_attention(alice_web, alice_tenant):
    user = make_user(tenant=alice_tenant)
    connect_source(user=user, actor=ACTOR, provider="dexcom_v3")
    for hours in (6, 7, 8, 9):
        arrive(user, "dexcom_v3", hours)

    reply = alice_web.get(PLACE)

    assert attention(reply) == [
        (
            "Dexcom is silent",
            "It usually sends data every hour.",
            f"{PLACE}users/?source=dexcom_v3",
        )
    ]
    assert 'Dexcom, data in each of the last 24 hours. Last: 6 h ago"' in (
        reply.content.decode()
    )


def test_sources_with_data_come_before_silent_ones(alice_web, alice_tenant):
    user = make_user(tenant=alice_tenant)
    for provider in ("fitbit", "oura", "withings"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    arrive(user, "withings", 0)
    arrive(user, "oura", 30)  # before the strip begins

    html = alice_web.get(PLACE).content.decode()

    places = [html.index(f"{name}, data in") for name in ("Withings", "Fitbit", "Oura")]
    assert places == sorted(places)
    assert "Withings, data in each of the last 24 hours. Last: this hour" in html
    assert "Oura, data in each of the last 24 hours. Last: no data yet" in html


def test_a_team_without_sources_is_told_what_comes_here(alice_web, alice_tenant):
    make_user(tenant=alice_tenant)

    assert "No source connected yet" in alice_web.get(PLACE).content.decode()


def test_a_long_list_of_users_with_a_source_is_counted_up_to_a_limit(
    alice_web, alice_tenant, monkeypatch
):
    monkeypatch.setattr("users.queries.users.users.COUNTED_UP_TO", 1)
    monkeypatch.setattr("users.web.users.overview.COUNTED_UP_TO", 1)
    for _ in range(3):
        connect_source(
            user=make_user(tenant=alice_tenant), actor=ACTOR, provider="oura"
        )

    users = tile(alice_web.get(PLACE), "Users with a source")

    assert (users.number, users.unit) == (1, "or more")


def test_a_source_that_went_silent_this_week_needs_attention(alice_web, alice_tenant):
    for days in (4, 6, 40):
        user = make_user(tenant=alice_tenant)
        connect_source(user=user, actor=ACTOR, provider="oura")
        make_regular_arrivals(user, "oura", timezone.now() - timedelta(days=days))

    reply = alice_web.get(PLACE)

    assert attention(reply) == [
        (
            "Oura is silent for 2 users",
            "In the last 7 days, compared with each user's usual interval",
            f"{PLACE}users/?source=oura&silence=week",
        )
    ]
    assert len(alice_web.get(attention(reply)[0][2]).context["users"]) == 2
