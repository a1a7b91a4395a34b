"""Withings from the link to the API, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.gateways.withings.test_days import DAY, WORKOUT
from users import jobs
from users.gateways.withings.gateway import WithingsGateway
from users.models import Connection, SourceBudget, SourceGrant, Supply
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


def test_all_that_withings_has_is_stored_and_read_by_the_api(
    alice_tenant, alice_api, user, withings
):
    morning = int(NOON.timestamp()) - 5 * 3600
    withings.add_measures(
        morning,
        {1: (72_500, -3), 5: (58_000, -3), 6: (214, -1), 11: (61, 0), 170: (74, -1)},
    )
    withings.add_measures(morning + 60, {9: (74, 0), 10: (118, 0), 11: (62, 0)})
    withings.add_measures(morning + 120, {54: (97, 0)})
    withings.add_measures(morning + 180, {71: (371, -1)})
    withings.add_measures(morning + 240, {123: (42, 0)})
    start = morning - 8 * 3600
    withings.add_night(start, morning, "2026-03-09", sleep_efficiency=0.9)
    withings.nights[0]["data"] |= {
        "total_timeinbed": 28_800,
        "total_sleep_time": 26_100,
        "wakeupduration": 2700,
        "lightsleepduration": 13_500,
        "deepsleepduration": 6300,
        "remsleepduration": 6300,
    }
    withings.stages.append({"startdate": start, "enddate": morning, "state": 1})
    withings.activities.append(DAY | {"date": "2026-03-09"})
    withings.workouts.append(WORKOUT)

    sign_in(user, "allow")
    connection = Connection.objects.for_tenant(alice_tenant).get()
    jobs.pull_connection_data(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    sent = Supply.objects.for_tenant(alice_tenant).values_list("resource", "sent_count")
    assert dict(sent) == {
        **dict.fromkeys(WithingsGateway.cloud_resources, 1),
        "heartrate": 2,
    }
    read = {
        slug: alice_api.get(f"/v2/summary/{slug}/{user.uuid}{SINCE}").json()[slug][0]
        for slug in ("sleep", "sleep_cycle", "activity", "workouts", "body")
    }
    assert read["sleep"]["efficiency"] == 90.0
    assert read["sleep_cycle"]["sleep_id"] == read["sleep"]["id"]
    assert read["sleep_cycle"]["stage_end_offset_second"] == [28_800]
    assert read["activity"]["heart_rate"]["max_bpm"] == 80
    assert read["activity"]["low"] == pytest.approx(13.33, abs=0.01)
    assert read["workouts"]["sport"]["slug"] == "bicycling"
    assert read["body"]["visceral_fat_index"] == 7.4
    assert samples(alice_api, user, "body_temperature")[0]["value"] == 37.1


def test_who_denies_it_connects_nothing(alice_tenant, user, withings):
    back = sign_in(user, "deny")

    assert "problem=access_denied" in back
    assert not Connection.objects.for_tenant(alice_tenant).exists()
    assert withings.trades == 0
