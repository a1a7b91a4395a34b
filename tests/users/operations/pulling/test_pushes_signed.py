"""Pushes of WHOOP, Polar and Strava: what they sign, and the one webhook of two."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from django.test import Client

from tests.factories.users import make_user
from tests.users.operations.pulling.test_pushes import address_of, send_here
from tests.users.operations.pulling.test_worst_days import run
from tests.users.operations.pulling.test_worst_weeks import sign_in
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    ResourceRefused,
)
from users.gateways.polar.pushes import sign_polar_push
from users.gateways.whoop.pushes import sign_whoop_push
from users.models import Announcement, SourceGrant, SourcePushKey, Summary
from users.operations.pulling.pushes import ensure_source_pushes
from users.operations.sources.credentials import (
    build_push_address,
    find_connection_gateway,
)
from users.operations.sources.grants import get_valid_connection_tokens

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
WHOOP = ClientCredentials("twin-id", "twin-secret")
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def strap(alice_tenant, whoop):
    return sign_in(alice_tenant, "whoop_v2", whoop, make_user(tenant=alice_tenant))


@pytest.fixture
def watch(alice_tenant, polar):
    connection = sign_in(alice_tenant, "polar", polar, make_user(tenant=alice_tenant))
    subscribe(connection)
    return connection


def subscribe(connection):
    gateway = find_connection_gateway(connection)
    kept = get_valid_connection_tokens(connection=connection, gateway=gateway)
    SourceGrant.objects.for_tenant(connection.tenant).update(pushes_checked_at=None)
    ensure_source_pushes(connection=connection, gateway=gateway, grant=kept.grant)
    return SourceGrant.objects.for_tenant(connection.tenant).get().pushes_error


def announced(tenant):
    found = Announcement.objects.for_tenant(tenant).order_by("resource")
    return [(each.resource, each.first_at, each.last_at) for each in found]


def push_whoop(connection, *, stamp=None, secret=WHOOP, **said):
    body = orjson.dumps(
        {"user_id": 10_129, "id": "s-1", "type": "sleep.deleted", "trace_id": "t"}
        | said
    )
    stamp = stamp or str(int(NOON.timestamp() * 1000))
    path, _token = address_of(connection)
    headers = {
        "x-whoop-signature": sign_whoop_push(secret, stamp, body),
        "x-whoop-signature-timestamp": stamp,
    }
    return Client().post(path, body, content_type="application/json", headers=headers)


def push_polar(connection, key, *, sent_at=NOON, **said):
    body = orjson.dumps(
        {"event": "SLEEP", "user_id": 10_129, "date": "2026-03-08"}
        | {"timestamp": sent_at.isoformat()}
        | said
    )
    path, _token = address_of(connection)
    headers = {"polar-webhook-signature": sign_polar_push(key, body)}
    return Client().post(path, body, content_type="application/json", headers=headers)


def test_a_signed_push_of_whoop_is_recorded(alice_tenant, strap):
    assert push_whoop(strap).status_code == 200
    assert announced(alice_tenant) == [("sleep", NOON - 3 * DAY, NOON)]


def test_a_push_of_nobody_we_know_is_forgotten(alice_tenant, strap):
    assert push_whoop(strap, user_id=77).status_code == 200
    assert push_whoop(strap, type="body.updated").status_code == 200
    assert announced(alice_tenant) == []


@pytest.mark.parametrize(
    "forged",
    [
        {"secret": ClientCredentials("twin-id", "another")},
        {"stamp": str(int((NOON.timestamp() - 3 * 3600 - 1) * 1000))},
        {"stamp": str(int((NOON.timestamp() + 301) * 1000))},
        {"stamp": "soon"},
        {"type": None},
    ],
    ids=["another secret", "replayed", "of the future", "no time", "no type"],
)
def test_what_whoop_did_not_sign_lately_is_refused(alice_tenant, strap, forged):
    assert push_whoop(strap, **forged).status_code == 403
    assert announced(alice_tenant) == []


def test_whoop_is_asked_each_hour_until_its_first_push(alice_tenant, strap):
    before = subscribe(strap)
    push_whoop(strap)

    assert (before, subscribe(strap)) == ("not_registered", "")


def test_polar_gets_one_webhook_whose_key_is_kept_encrypted(alice_tenant, polar, watch):
    (kept,) = SourcePushKey.objects.all()

    assert polar.webhook["url"].endswith(address_of(watch)[0])
    assert polar.webhook["events"] == [
        "ACTIVITY_SUMMARY",
        "CONTINUOUS_HEART_RATE",
        "EXERCISE",
        "SLEEP",
    ]
    assert polar.key not in kept.key
    assert push_polar(watch, polar.key).status_code == 200
    assert announced(alice_tenant) == [
        (resource, datetime(2026, 3, 7, tzinfo=UTC), NOON)
        for resource in ("hrv", "sleep", "sleep_cycle")
    ]


@pytest.mark.parametrize(
    "forged",
    [
        {"key": "another"},
        {"key": ""},
        {"sent_at": NOON - 7 * DAY - timedelta(seconds=1)},
        {"sent_at": NOON + timedelta(seconds=301)},
        {"date": "yesterday"},
        {"timestamp": 7},
    ],
    ids=["another key", "no key", "replayed", "of the future", "no day", "no time"],
)
def test_what_polar_did_not_sign_lately_is_refused(alice_tenant, polar, watch, forged):
    key = forged.pop("key", polar.key)

    assert push_polar(watch, key, **forged).status_code == 403
    assert announced(alice_tenant) == []


def test_a_ping_is_answered_before_its_key_is_known(alice_tenant, polar, watch):
    SourcePushKey.objects.all().delete()
    path, _token = address_of(watch)
    ping = {"timestamp": "2026-03-09T12:00:00.02Z", "event": "PING"}

    reply = Client().post(path, orjson.dumps(ping), content_type="application/json")

    assert (reply.status_code, announced(alice_tenant)) == (200, [])


def test_a_webhook_whose_key_was_lost_is_made_anew(polar, watch):
    old = polar.key
    SourcePushKey.objects.all().delete()

    assert subscribe(watch) == ""
    assert polar.key != old
    assert push_polar(watch, polar.key).status_code == 200
    assert push_polar(watch, old).status_code == 403


def test_of_two_keys_the_later_asked_for_stays(polar, watch):
    keys = find_connection_gateway(watch)._keys
    keys.store("late", asked_at=NOON + timedelta(seconds=2))
    keys.store("early", asked_at=NOON + timedelta(seconds=1))

    assert keys.read() == "late"


def test_a_webhook_that_polar_ended_is_activated_again(polar, watch):
    polar.webhook["active"] = False

    assert subscribe(watch) == ""
    assert polar.webhook["active"]


def test_a_webhook_of_somebody_else_is_left_alone(alice_tenant, polar, watch):
    polar.webhook["url"] = "https://other.example/hook"
    gateway = find_connection_gateway(watch)
    url, token = build_push_address(
        tenant=alice_tenant, provider="polar", gateway=gateway
    )
    kept = get_valid_connection_tokens(connection=watch, gateway=gateway)

    with pytest.raises(ResourceRefused, match="webhook_taken"):
        gateway.pushes.subscribe(url=url, token=token, grant=kept.grant)
    assert polar.webhook["url"] == "https://other.example/hook"


def test_a_flood_at_an_address_is_held_back_and_recorded_once(
    alice_tenant, strap, monkeypatch, time_machine
):
    monkeypatch.setattr("users.operations.pulling.pushes.PUSHES_A_MINUTE", 3)
    forged = ClientCredentials("twin-id", "another")

    told = [push_whoop(strap, secret=forged).status_code for _ in range(2)]
    told += [push_whoop(strap).status_code for _ in range(2)]
    held = push_whoop(strap)
    (before,) = Announcement.objects.for_tenant(alice_tenant)
    time_machine.move_to(NOON + timedelta(seconds=61), tick=False)

    assert told == [403, 403, 200, 429]
    assert (held.status_code, held.headers["Retry-After"]) == (429, "60")
    assert before.times == 1
    assert push_whoop(strap).status_code == 200


def test_strava_asks_our_address_and_says_who_took_access_back(strava, alice_tenant):
    connection = sign_in(alice_tenant, "strava", strava, make_user(tenant=alice_tenant))
    path, token = address_of(connection)
    asked = {"hub.mode": "subscribe", "hub.challenge": "c", "hub.verify_token": token}

    assert subscribe(connection) == ""
    assert Client().get(path, asked).json() == {"hub.challenge": "c"}
    assert Client().get(path, asked | {"hub.verify_token": "t"}).status_code >= 400
    strava.add_activity(NOON - DAY)
    run(connection)
    strava.revoke_consent()
    strava.announce("update", strava.user_id, authorized="false")
    strava.sender.send = send_here
    strava.sender.deliver()
    assert announced(alice_tenant) == [("workouts", NOON - 3 * DAY, NOON)]
    run(connection)

    connection.refresh_from_db()
    assert strava.sender.statuses == [200]
    assert connection.status == "error"
    kept = Summary.objects.for_tenant(alice_tenant).filter(kind="workouts")
    assert kept.count() == 1
