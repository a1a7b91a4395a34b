"""Pushes of Oura: the challenge, signatures and subscriptions."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import orjson
import pytest
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.operations.pulling.test_pushes import address_of, seconds
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    Grant,
)
from users.gateways.oura.pushes import sign_oura_push
from users.gateways.sources import find_source_gateway
from users.models import Announcement
from users.operations.sources.cloud_sources import connect_cloud_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OURA = ClientCredentials("our-id", "our-secret")


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def ring(alice_tenant, oura):
    return connect_cloud_source(
        user=make_user(tenant=alice_tenant),
        actor=ACTOR,
        provider="oura",
        grant=Grant("access-1", external_user_id="user-7"),
    )


def push_of_oura(path, *, stamp=None, secret=OURA, **said):
    body = orjson.dumps(
        {
            "event_type": "update",
            "data_type": "daily_activity",
            "object_id": "12345abc",
            "event_time": "2026-03-08T08:00:00+00:00",
            "user_id": "user-7",
            **said,
        }
    )
    stamp = stamp or str(seconds(NOON))
    return Client().generic(
        "POST",
        path,
        body,
        content_type="application/json",
        headers={
            "x-oura-timestamp": stamp,
            "x-oura-signature": sign_oura_push(secret, stamp, body),
        },
    )


def test_oura_verifies_our_address_by_a_challenge(ring):
    path, token = address_of(ring)

    good = Client().get(path, {"verification_token": token, "challenge": "c-1"})
    bad = Client().get(path, {"verification_token": "other", "challenge": "c-1"})

    assert good.json() == {"challenge": "c-1"}
    assert (bad.status_code, bad.content) == (403, b"")


def test_a_signed_push_of_oura_is_recorded(alice_tenant, ring):
    path, _token = address_of(ring)

    reply = push_of_oura(path)

    (kept,) = Announcement.objects.for_tenant(alice_tenant)
    assert reply.status_code == 200
    assert (kept.resource, kept.first_at, kept.last_at) == (
        "activity",
        datetime(2026, 3, 5, 8, tzinfo=UTC),
        NOON,
    )


@pytest.mark.parametrize(
    "forged",
    [
        {"secret": ClientCredentials("our-id", "another")},
        {"stamp": str(seconds(NOON) - 86_401)},
        {"stamp": str(seconds(NOON) + 301)},
        {"stamp": "soon"},
    ],
    ids=["another secret", "replayed after a day", "of the future", "no time"],
)
def test_what_oura_did_not_sign_lately_is_refused(alice_tenant, ring, forged):
    path, _token = address_of(ring)

    reply = push_of_oura(path, **forged)

    assert reply.status_code == 403
    assert not Announcement.objects.for_tenant(alice_tenant).exists()


def test_oura_is_subscribed_for_each_collection_and_renewed(oura, monkeypatch):
    calls = []

    class Http:
        def __enter__(self):
            return self

        def __exit__(self, *_exc):
            return None

        def send(self, method, url, *, headers, body=None):
            calls.append((method, urlsplit(url).path, body))
            assert headers == {"x-client-id": "our-id", "x-client-secret": "our-secret"}
            return type("Answer", (), {"is_success": True, "body": kept, "status": 200})

    kept = [
        {
            "id": "s-1",
            "callback_url": "https://assay.example/push/",
            "event_type": "create",
            "data_type": "sleep",
            "expiration_time": "2026-03-12T00:00:00+00:00",
        },
        {
            "id": "s-2",
            "callback_url": "https://assay.example/push/",
            "event_type": "update",
            "data_type": "sleep",
            "expiration_time": "2026-06-01T00:00:00+00:00",
        },
    ]
    pushes = find_source_gateway("oura", OURA).pushes
    monkeypatch.setattr(type(pushes), "open_http", property(lambda _self: Http))
    pushes.subscribe(
        url="https://assay.example/push/", token="t-1", grant=Grant("access-1")
    )

    base = "/v2/webhook/subscription"
    assert calls[0] == ("GET", base, None)
    assert ("PUT", f"{base}/renew/s-1", None) in calls
    made = [body for method, _, body in calls if method == "POST"]
    assert len(made) == 9 * 3 - 2
    assert made[0] == {
        "callback_url": "https://assay.example/push/",
        "verification_token": "t-1",
        "event_type": "delete",
        "data_type": "sleep",
    }
