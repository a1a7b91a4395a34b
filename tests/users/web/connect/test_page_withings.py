"""Withings from the link to the API, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users import jobs
from users.models import Connection, SourceBudget, SourceGrant
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.sources.sources import disconnect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SINCE = "?start_date=2025-09-01&end_date=2026-03-10"


@pytest.fixture
def user(alice_tenant, time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )
    return make_user(tenant=alice_tenant)


def sign_in(user, answer):
    """Open a link, sign in at the twin's page and come back."""
    session = create_connect_link(user=user, actor=ACTOR)
    browser = Client()
    browser.get("/connect/", {"token": sign_connect_link_token(session)})
    away = browser.get(f"/connect/{session.uuid}/withings/sign-in/")["Location"]
    page = httpx.get(away)
    assert "Share measures and nights?" in page.text
    back = httpx.post(away, data={"answer": answer}).headers["Location"]
    return browser.get(
        "/connect/back/withings/", dict(parse_qsl(urlsplit(back).query))
    )["Location"]


def samples(api, user, resource):
    reply = api.get(f"/v2/timeseries/{user.uuid}/{resource}/grouped{SINCE}&limit=500")
    ((group,),) = reply.json()["groups"].values()
    return group["data"]


def test_a_scale_is_connected_by_a_link_read_by_the_api_and_given_back(
    alice_tenant, alice_api, user, withings
):
    for day in range(180):
        withings.add_measures(
            int((NOON - timedelta(days=day, hours=5)).timestamp()),
            {1: (72_500 + day, -3), 9: (74, 0), 10: (118, 0)},
        )

    back = sign_in(user, "allow")
    connection = Connection.objects.for_tenant(alice_tenant).get()
    jobs.pull_connection_data(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert "connected=withings" in back
    assert connection.external_user_id == "363"
    weights = samples(alice_api, user, "body_weight")
    pressures = samples(alice_api, user, "blood_pressure")
    bodies = alice_api.get(f"/v2/summary/body/{user.uuid}{SINCE}").json()["body"]
    assert len(weights) == len(pressures) == len(bodies) == 180
    assert weights[-1]["value"] == 72.5
    assert (pressures[0]["systolic"], pressures[0]["diastolic"]) == (118.0, 74.0)
    assert SourceBudget.objects.get().used == len(withings.log)

    disconnect_source(user=user, actor=ACTOR, provider="withings")
    jobs.revoke_connection_grant(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert withings.is_revoked
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()


def test_who_denies_it_connects_nothing(alice_tenant, user, withings):
    back = sign_in(user, "deny")

    assert "problem=access_denied" in back
    assert not Connection.objects.for_tenant(alice_tenant).exists()
    assert withings.trades == 0
