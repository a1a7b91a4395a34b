"""Google Health's points read as resources, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tests.factories.users import make_user
from tests.users.operations.pulling.test_pushes import address_of, send_here
from tests.users.operations.pulling.test_worst_weeks import sign_in
from users.gateways.base import AccessExpired, Grant, SourceRefused
from users.gateways.sources import find_source_gateway
from users.models import Announcement, User

BACK = "https://assay.example/connect/back/google_health/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
WAKING = datetime(2026, 3, 9, 6, 30, tzinfo=timezone(timedelta(hours=1)))
NIGHT = timedelta(hours=8)
DAY = timedelta(days=1)
PREFIX = "https://www.googleapis.com/auth/googlehealth."


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway():
    return find_source_gateway("google_health")


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, resource, *, days=5, grant=None):
    since = NOON - timedelta(days=days)
    asked = {"until": NOON, "grant": grant or signed_in(twin)}
    return list(gateway().pull(User(), resource, since, **asked))


def elements(pages):
    return [each for page in pages for batch in page.batches for each in batch.elements]


def test_people_sign_in_for_offline_access(google_health):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{google_health.url}/o/oauth2/v2/auth?")
    asked = parse_qs(urlsplit(url).query)
    assert (asked["access_type"], asked["prompt"]) == (["offline"], ["consent"])
    assert asked["scope"][0].split() == [
        f"{PREFIX}{name}.readonly"
        for name in (
            "activity_and_fitness",
            "health_metrics_and_measurements",
            "sleep",
        )
    ]


def test_a_refresh_token_is_kept_and_used_again(google_health, time_machine):
    first = signed_in(google_health)
    time_machine.shift(timedelta(hours=2))
    with pytest.raises(AccessExpired):
        pull(google_health, "steps", grant=first)
    second = gateway().refresh_tokens(first)
    third = gateway().refresh_tokens(first)

    assert first.external_user_id == google_health.user_id
    assert first.refresh_token == second.refresh_token == third.refresh_token
    gateway().revoke(third)
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(third)


def test_an_account_without_google_health_is_refused(google_health):
    google_health.is_linked = False

    with pytest.raises(SourceRefused) as caught:
        signed_in(google_health)

    assert caught.value.fault == "user_not_found"


def test_what_was_not_granted_is_not_offered(google_health):  # the settings are its
    grant = Grant("a", scopes=(f"{PREFIX}sleep.readonly",))

    assert gateway().granted_resources(grant) == {"sleep", "sleep_cycle"}


def test_a_sleep_is_read_with_its_stages_once_it_was_processed(google_health):
    point = google_health.add_sleep(WAKING - NIGHT, WAKING)
    google_health.add_sleep(WAKING - DAY, WAKING - DAY + NIGHT, processed=False)
    sleep_id = point["dataPointName"].rsplit("/", 1)[-1]

    (page,) = pull(google_health, "sleep")
    (cycle, _of_other) = elements(pull(google_health, "sleep_cycle"))

    assert not page.is_complete
    assert elements([page]) == [
        {
            "external_id": sleep_id,
            "bedtime_start": "2026-03-08T22:30:00+01:00",
            "bedtime_stop": "2026-03-09T06:30:00+01:00",
            "timezone_offset": 3600,
            "type": "long_sleep",
            "duration": 28_800,
            "total": 28_800,
            "awake": 0,
            "latency": 420,
            "light": 21_600,
            "rem": 0,
            "deep": 7200,
        }
    ]
    assert (cycle["external_id"], cycle["stage_type"]) == (sleep_id, [1, 2])
    assert cycle["stage_end_offset_second"] == [7200, 28_800]


def test_a_workout_is_read_in_our_units(google_health):
    google_health.add_exercise(WAKING, minutes=30)

    (workout,) = elements(pull(google_health, "workouts"))

    assert workout | {"external_id": None, "provider_id": None} == {
        "external_id": None,
        "provider_id": None,
        "title": "Run",
        "time_start": "2026-03-09T06:30:00+01:00",
        "time_end": "2026-03-09T07:00:00+01:00",
        "timezone_offset": 3600,
        "moving_time": 1800,
        "average_hr": 143,
        "distance": 5100.0,
        "calories": 345.0,
        "total_elevation_gain": None,
        "average_speed": None,
        "steps": 4800,
        "sport": {"id": 0, "name": "Running", "slug": "running"},
    }


def test_days_are_sums_of_the_users_own_days(google_health):
    for hours in (0, 1):
        at = WAKING + timedelta(hours=hours)
        google_health.add_interval("steps", at, 60, 700)
        google_health.add_interval("distance", at, 60, 512_000)
        google_health.add_interval("total-calories", at, 60, 61.5)
    resting = {"date": {"year": 2026, "month": 3, "day": 9}, "beatsPerMinute": "57"}
    google_health.add("daily-resting-heart-rate", "dailyRestingHeartRate", resting)

    (page,) = pull(google_health, "activity")

    assert page.is_complete
    assert elements([page]) == [
        {
            "calendar_date": "2026-03-09",
            "steps": 1400,
            "distance": 1024.0,
            "calories_total": 123.0,
            "heart_rate": {"resting_bpm": 57.0},
        }
    ]


def test_samples_and_intervals_are_read_in_our_units(google_health):
    google_health.add_sample("weight", "weight", WAKING, weightGrams=72_400.0)
    google_health.add_sample("heart-rate", "heartRate", WAKING, beatsPerMinute="61")
    google_health.add_interval("distance", WAKING, 1, 40_000)

    at, end = "2026-03-09T06:30:00+01:00", "2026-03-09T06:31:00+01:00"
    assert elements(pull(google_health, "weight")) == [{"timestamp": at, "value": 72.4}]
    assert elements(pull(google_health, "heartrate")) == [
        {"timestamp": at, "value": 61.0}
    ]
    assert elements(pull(google_health, "distance")) == [
        {"start": at, "end": end, "value": 40.0}
    ]


def test_half_a_year_comes_by_windows_and_pages(google_health):
    for back in range(180):
        google_health.add_sleep(WAKING - back * DAY - NIGHT, WAKING - back * DAY)
        google_health.add_sleep(
            WAKING - back * DAY + NIGHT, WAKING - back * DAY + DAY / 2
        )

    found = elements(pull(google_health, "sleep", days=180))

    assert len({each["external_id"] for each in found}) == 360


@pytest.mark.django_db
def test_its_subscriber_is_verified_and_its_messages_are_read(
    alice_tenant, google_health
):
    connection = sign_in(
        alice_tenant, "google_health", google_health, make_user(tenant=alice_tenant)
    )
    path, _token = address_of(connection)
    google_health.push_url = f"http://testserver{path}"
    google_health.sender.send = send_here

    assert google_health.verify() == (201, 403)
    google_health.announce("steps", NOON - NIGHT, NOON, "DELETE")
    google_health.announce("nutrition-log", NOON - NIGHT, NOON)
    google_health.sender.deliver()
    forged = Client().post(
        path,
        b'{"data": {}}',
        content_type="application/json",
        headers={"authorization": "Bearer x"},
    )

    assert (google_health.sender.statuses, forged.status_code) == ([201, 201], 403)
    found = Announcement.objects.for_tenant(alice_tenant).order_by("resource")
    assert [(each.resource, each.first_at, each.last_at) for each in found] == [
        ("activity", NOON - NIGHT - DAY, NOON),
        ("steps", NOON - NIGHT - DAY, NOON),
    ]
