"""Suunto's workouts and 24/7 samples, its key and its pushes, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    ClientRejected,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.pushes import PushRejected, PushRequest
from users.gateways.sources import find_source_gateway
from users.gateways.suunto import records
from users.gateways.suunto.pushes import SIGNATURE_HEADER, sign_suunto_push
from users.gateways.suunto.sports import find_suunto_sport
from users.models import User

BACK = "https://assay.example/connect/back/suunto/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HERE = timezone(timedelta(hours=2))
BED = datetime(2026, 3, 8, 23, tzinfo=HERE)
WAKE = datetime(2026, 3, 9, 7, tzinfo=HERE)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MORE = {"subscription_key": "twin-key", "notification_secret": "twin-notifications"}


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("suunto", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def read(twin, resource, *, days=5, grant=None, credentials=None):
    """The elements of a pull of the last days."""
    pages = gateway(credentials).pull(
        User(),
        resource,
        NOON - timedelta(days=days),
        until=NOON,
        grant=grant or signed_in(twin),
    )
    return [each for page in pages for batch in page.batches for each in batch.elements]


def test_people_sign_in_and_their_name_and_tokens_are_kept(suunto, time_machine):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")
    first = signed_in(suunto)
    time_machine.move_to(NOON + 24 * HOUR, tick=False)
    with pytest.raises(AccessExpired):
        read(suunto, "workouts", grant=first)
    second = gateway().refresh_tokens(first)
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(first)
    suunto.give_tokens(now=NOON.timestamp())

    assert "scope" not in parse_qs(urlsplit(url).query)
    assert url.startswith(f"{suunto.url}/oauth/authorize?")
    assert first.external_user_id == second.external_user_id == "twin-nobody"
    assert first.expires_at == NOON + timedelta(seconds=86_399)


def test_a_grant_is_given_back_also_after_its_access_token_ended(suunto, time_machine):
    grant = signed_in(suunto)
    time_machine.move_to(NOON + 25 * HOUR, tick=False)

    gateway().revoke(grant)

    assert suunto.access_token == ""
    assert suunto.log[-1][1:] == ("GET", "/oauth/deauthorize", 200)
    assert "twin-secret" not in str(suunto.log)


def test_credentials_are_tried_with_their_key(suunto):
    def works(client_id="twin-id", **more):
        found = gateway(ClientCredentials(client_id, "twin-secret", MORE | more))
        return found.check_credentials(redirect_url=BACK)

    assert works()
    assert not works("another")
    assert not works(subscription_key="another")
    # Nothing can be asked of a notification secret; no key is no application.
    assert works(notification_secret="another")
    assert gateway(ClientCredentials("twin-id", "twin-secret")) is None
    assert "twin-key" not in repr(ClientCredentials("twin-id", "twin-secret", MORE))


def test_a_key_that_ended_is_no_fault_of_the_user(suunto):
    grant = signed_in(suunto)
    wrong = ClientCredentials("twin-id", "twin-secret", {"subscription_key": "old"})

    with pytest.raises(ClientRejected):
        read(suunto, "workouts", grant=grant, credentials=wrong)
    assert suunto.trades == 1


@pytest.mark.parametrize(
    ("status", "body", "raised", "reason"),
    [
        (401, {"error": "RateLimitExceeded"}, SourceUnavailable, "rate_limited"),
        (403, {"message": "Out of call volume quota."}, SourceUnavailable, None),
        (401, {"message": "OperationNotFound"}, ResourceRefused, "http_401"),
        (403, {"message": "Forbidden"}, ResourceRefused, "http_403"),
        (401, {"message": "Invalid token"}, AccessExpired, None),
        (200, {"payload": None}, SourceUnavailable, "not_documents"),
    ],
)
def test_its_refusals_are_told_apart(suunto, monkeypatch, status, body, raised, reason):
    from users.demo.twins.rest import TwinAnswer

    grant = signed_in(suunto)
    monkeypatch.setattr(
        type(suunto), "read", lambda _twin, _call: TwinAnswer(status, body)
    )

    with pytest.raises(raised) as caught:
        read(suunto, "workouts", grant=grant)

    assert reason is None or caught.value.reason == reason


def test_a_workout_is_read_with_its_offset_and_its_sport(suunto):
    suunto.add_workout(NOON - 9 * HOUR, offset=-5, name="Before breakfast")
    bare = {"workoutKey": "k", "startTime": 1_773_000_000_000, "totalTime": 60}

    (found,) = read(suunto, "workouts")

    assert found == {
        "external_id": f"{1:024x}",
        "provider_id": f"{1:024x}",
        "time_start": "2026-03-08T22:00:00-05:00",
        "time_end": "2026-03-08T22:40:00-05:00",
        "timezone_offset": -18_000,
        "title": "Before breakfast",
        "sport": {"id": 22, "name": "Trail running", "slug": "trail_running"},
        "moving_time": 2340,
        "steps": 6120,
        "average_hr": 148,
        "max_hr": 171,
        "distance": 8012.4,
        "calories": 530,
        "total_elevation_gain": 96.0,
        "elev_high": 140.2,
        "elev_low": 88.0,
        "average_speed": 3.42,
        "max_speed": 5.1,
    }
    (least,) = records.convert_suunto_workouts([bare])
    assert least["time_end"] == "2026-03-08T20:01:00+00:00"
    # In beats a second, and a sport that is not listed.
    odd = bare | {"hrdata": {"workoutAvgHR": 2.4}, "activityId": 999}
    assert records.convert_suunto_workouts([odd]) == [least]
    unread = ({"startTime": "soon"}, {"totalTime": 0}, {"workoutKey": 7})
    for wrong in (*unread, {"totalTime": None}, {"startTime": 1e30}):
        assert records.convert_suunto_workouts([bare | wrong]) == []
    assert [find_suunto_sport(number) for number in (89, -1, 122, True)] == [None] * 4
    assert find_suunto_sport(121) == {"id": 121, "name": "Yoga", "slug": "yoga"}


def test_workouts_come_by_pages(suunto):
    for number in range(120):
        suunto.add_workout(NOON - number * HOUR)

    assert len({each["external_id"] for each in read(suunto, "workouts")}) == 120
    asked = [path for _, _, path, _ in suunto.log if path == "/v3/workouts/"]
    assert len(asked) == 3


def test_a_sleep_is_read_once_with_the_recovery_at_waking(suunto):
    suunto.add_sleep(BED, WAKE - 2 * HOUR)
    suunto.add_sleep(BED, WAKE)
    suunto.add_sleep(BED, WAKE - HOUR)
    suunto.add_recovery(BED, 0.31)
    suunto.add_recovery(WAKE + HOUR / 2, 0.876)
    suunto.add_recovery(WAKE + HOUR / 4, 87)
    nap = datetime(2026, 3, 9, 13, tzinfo=HERE)
    suunto.add_sleep(nap, nap + HOUR / 2, IsNap=True, SleepQualityScore=0, HRMin=None)

    night, second = read(suunto, "sleep")

    assert night == {
        "external_id": str(int(BED.timestamp())),
        "bedtime_start": "2026-03-08T23:00:00+02:00",
        "bedtime_stop": "2026-03-09T07:00:00+02:00",
        "timezone_offset": 7200,
        "type": "long_sleep",
        "duration": 28_800,
        "total": 27_360,
        "awake": 1440,
        "deep": 5760,
        "light": 15_840,
        "rem": 5760,
        "score": 78,
        "hr_average": 52,
        "hr_lowest": 45,
        "average_hrv": 58,
        "recovery_readiness_score": 88,
    }
    assert second["type"] == "acknowledged_nap"
    assert second.keys().isdisjoint({"score", "hr_lowest", "recovery_readiness_score"})
    broken = {"timestamp": BED.isoformat(), "entryData": {"SleepId": 7}}
    assert records.convert_suunto_sleeps([broken, {}, {"entryData": 1}], []) == []


def test_days_and_samples_are_read(suunto):
    suunto.days["2026-03-08"] = (8421, 10_420_945)
    suunto.add_activity(WAKE, HR=71.4, HRV=44, SpO2=0.97)
    suunto.add_activity(WAKE, HR=71.4)
    suunto.add_activity(WAKE + HOUR / 6, HR=0, HRV=None)
    suunto.add_activity(WAKE + HOUR / 3, HR=1.2)

    at = "2026-03-09T07:00:00+02:00"
    assert read(suunto, "activity") == [
        {
            "external_id": "2026-03-08",
            "calendar_date": "2026-03-08",
            "steps": 8421,
            "calories_total": 2490.7,
        }
    ]
    assert read(suunto, "heartrate") == [{"timestamp": at, "value": 71.4}]
    assert read(suunto, "hrv") == [{"timestamp": at, "value": 44}]
    assert read(suunto, "blood_oxygen") == [{"timestamp": at, "value": 97.0}]


def test_a_day_without_an_offset_is_the_users(suunto):
    def told(time, value, name="stepcount"):
        samples = [{"TimeISO8601": time, "Value": value}]
        return {"Name": name, "Sources": [{"Name": "w", "Samples": samples}]}

    found = records.convert_suunto_days(
        [
            told("2026-03-07T17:00:00", 5000),
            told("2026-03-08T12:00:00+07:00", 6000),
            told("2026-03-08T12:00:00+07:00", None),
            told("soon", 1),
            {"Name": "stepcount", "Sources": [{"Samples": None}, 7]},
        ],
        ZoneInfo("Asia/Bangkok"),
    )

    assert found == [
        {"external_id": "2026-03-08", "calendar_date": "2026-03-08", "steps": 6000}
    ]


def test_the_second_address_of_the_days_is_asked_too(suunto, monkeypatch):
    from users.demo.twins import suunto as twin

    monkeypatch.setattr(twin, "_SUMS", twin._SUMS[1:])
    suunto.days["2026-03-08"] = (8421, 0)

    assert read(suunto, "activity")[0]["steps"] == 8421


def test_half_a_year_is_asked_for_in_windows_that_suunto_takes(suunto):
    for back in range(180):
        suunto.add_sleep(BED - back * DAY, WAKE - back * DAY)

    found = read(suunto, "sleep", days=180)

    assert len({each["external_id"] for each in found}) == 180
    assert {status for *_, status in suunto.log} == {200}


def pushes(**more):
    credentials = ClientCredentials("twin-id", "twin-secret", MORE | more)
    return gateway(credentials).pushes


def test_a_push_says_what_to_read_and_since_when(suunto):
    night = suunto.add_sleep(BED, WAKE)
    run = suunto.add_workout(NOON - 9 * HOUR)
    announced = []
    for kind, record in (
        ("SUUNTO_247_SLEEP", night),
        ("SUUNTO_247_RECOVERY", suunto.add_recovery(WAKE, 0.5)),
        ("SUUNTO_247_ACTIVITY", suunto.add_activity(WAKE)),
        ("WORKOUT", run),
        ("ROUTE", {}),
        ("SUUNTO_247_SLEEP", {"timestamp": "soon"}),
    ):
        suunto.announce(kind, record)
        push = suunto.sender.waiting.pop()
        asked = PushRequest("t", {}, dict(push.headers), push.body)
        announced.append(pushes().read(asked, at=NOON))

    assert [
        (each.external_user_id, each.resources, each.first, each.last)
        for found in announced
        for each in found
    ] == [
        ("twin-nobody", ("sleep",), BED, NOON),
        ("twin-nobody", ("sleep",), WAKE, NOON),
        (
            "twin-nobody",
            ("activity", "heartrate", "hrv", "blood_oxygen"),
            WAKE,
            NOON,
        ),
        ("twin-nobody", ("workouts",), NOON - 9 * HOUR, NOON),
        ("twin-nobody", ("sleep",), NOON - 3 * DAY, NOON),
    ]


@pytest.mark.parametrize(
    ("body", "secret", "changed"),
    [
        (b'{"type":"WORKOUT_CREATED","username":"a"}', "another", str),
        (b'{"type":"WORKOUT_CREATED","username":"a"}', "", str),
        (b'{"type":"WORKOUT_CREATED","username":"a"}', MORE, str.upper),
        (b'{"type":"WORKOUT_CREATED"}', MORE, str),
        (b"[]", MORE, str),
        (b"no JSON", MORE, str),
    ],
)
def test_a_push_that_nothing_proves_is_rejected(suunto, body, secret, changed):
    known = secret if isinstance(secret, str) else secret["notification_secret"]
    signed = changed(sign_suunto_push(known, body))
    asked = PushRequest("t", {}, {SIGNATURE_HEADER: signed}, body)

    with pytest.raises(PushRejected):
        pushes().read(asked, at=NOON)
    with pytest.raises(PushRejected):
        pushes(notification_secret=known if known == "" else "x").read(asked, at=NOON)
