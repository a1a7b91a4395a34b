"""The original, read through its published client: here from a server of ours."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import CommandError, call_command

from tests.factories.accounts import make_api_key
from tests.users.gateways.moving.servers import ASSAY, OpenWearablesServer, serve
from users.gateways.moving import platforms
from users.gateways.moving.base import ResourceNames
from users.gateways.moving.http import Pace
from users.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def key(charlie_tenant, monkeypatch, time_machine, _one_connection):
    """The key of the platform that is left: another team of this server."""
    time_machine.move_to("2026-03-09T12:00:00Z", tick=False)
    serve(monkeypatch, OpenWearablesServer())
    key = make_api_key(tenant=charlie_tenant)
    monkeypatch.setenv("IMPORT_FROM_KEY", key)
    return key


def fill(key):
    api = httpx.Client(base_url=ASSAY, headers={"x-service-api-key": key})
    made = api.post("/v2/user", json={"client_user_id": "team/u 1"})
    user_id = made.json()["user_id"]
    api.post("/v2/user", json={"client_user_id": "empty"})
    start, end = "2026-03-02T21:00:00+00:00", "2026-03-03T05:00:00+00:00"
    pushes = {
        "timeseries/{}/heartrate": [
            {"timestamp": f"2026-03-01T08:{n:02}:00+00:00", "value": 60 + n}
            for n in range(3)
        ],
        "timeseries/{}/blood_pressure": [
            {"timestamp": "2026-03-01T08:00:00+00:00", "systolic": 118, "diastolic": 76}
        ],
        "timeseries/{}/steps": [
            {
                "timestamp": "2026-03-01T08:00:00+00:00",
                "start": "2026-03-01T08:00:00+00:00",
                "end": "2026-03-01T08:05:00+00:00",
                "value": 240,
                "timezone_offset": 3600,
            }
        ],
        "summary/sleep/{}": [
            {"bedtime_start": start, "bedtime_stop": end, "total": 27000, "deep": 5400}
        ],
        "summary/workouts/{}": [
            {
                "time_start": "2026-03-02T06:00:00+00:00",
                "time_end": "2026-03-02T06:30:00+00:00",
                "provider_id": "w-1",
                "title": "Trail run",
            }
        ],
        "summary/activity/{}": [{"calendar_date": "2026-03-01", "steps": 8432}],
        "summary/menstrual_cycle/{}": [
            {"period_start": "2026-02-21", "period_end": "2026-02-25"}
        ],
    }
    for path, data in pushes.items():
        pushed = api.post(
            "/v2/" + path.format(user_id), json={"provider": "oura", "data": data}
        )
        assert pushed.status_code == 200, (path, pushed.content)


def test_users_sources_and_data_are_read_as_a_push_has_them(key):
    fill(key)
    platform = platforms.open_platform(
        "original",
        url=ASSAY,
        key=key,
        pace=Pace(1000),
        resources=ResourceNames(
            {"sleep": "sleep", "workouts": "workouts", "profile": None},
            ("heartrate", "steps", "vo2_max"),
        ),
    )

    users = {each.client_user_id: each for each in platform.list_users()}
    user = users["team/u 1"]
    [source] = platform.list_connections(user)
    found = {
        feed: [
            (part.resource, part.provider, part.is_samples, part.elements)
            for page in platform.read_pages(user, feed, "")
            for part in page.parts
        ]
        for feed in platform.feeds
    }

    assert sorted(users) == ["empty", "team/u 1"]
    assert platform.list_connections(users["empty"]) == []
    assert (source.provider, source.is_live) == ("oura", True)
    assert set(found) == {
        "sleep",
        "workouts",
        "profile",
        "heartrate",
        "steps",
        "vo2_max",
        "workout_streams",
        "orders",
    }
    assert found["workout_streams"] == found["orders"] == []
    assert found["profile"] == found["vo2_max"] == []
    [(_, provider, is_samples, hearts)] = found["heartrate"]
    assert (provider, is_samples) == ("oura", True)
    assert [each["value"] for each in hearts] == [60, 61, 62]
    [(_, _, _, [steps])] = found["steps"]
    assert (steps["value"], steps["timezone_offset"]) == (240, 3600)
    assert steps["end"] == "2026-03-01T08:05:00+00:00"
    [(_, _, is_samples, [night])] = found["sleep"]
    assert (is_samples, night["total"], night["deep"]) == (False, 27000, 5400)
    assert not {"id", "user_id", "source"} & night.keys()
    [(_, _, _, [workout])] = found["workouts"]
    assert (workout["provider_id"], workout["title"]) == ("w-1", "Trail run")


def test_a_refused_key_and_a_missing_client_are_one_sentence(
    key, alice_tenant, monkeypatch
):
    arguments = ("original", "--url", ASSAY, "--team", alice_tenant.team.slug)
    monkeypatch.setenv("IMPORT_FROM_KEY", "sk_us_wrong")
    with pytest.raises(CommandError, match="status_401"):
        call_command("import_from", *arguments)

    def missing(*_args):
        raise ImportError

    monkeypatch.setattr(platforms, "OriginalClient", missing)
    with pytest.raises(CommandError, match="--group original"):
        call_command("import_from", *arguments)

    assert not User.objects.for_tenant(alice_tenant).exists()
