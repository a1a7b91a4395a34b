"""Garmin's summaries read as resources; samples as in its Health API document."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from tests.factories.fit import make_fit
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    ComesLater,
    Grant,
    ResourceRefused,
    SourceRefused,
)
from users.gateways.pushes import ConsentChanged, PushRejected, PushRequest
from users.gateways.sources import find_source_gateway
from users.models import User

BACK = "https://assay.example/connect/back/garmin/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = ("ACTIVITY_EXPORT", "HEALTH_EXPORT", "HISTORICAL_DATA_EXPORT")


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("garmin", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def read(kind, resource, *items, zone=None):
    content = orjson.dumps({"kind": kind, "items": items})
    page = gateway().read_pushed(User(fallback_time_zone=zone or ""), resource, content)
    return [
        (str(batch.source_type), each)
        for batch in page.batches
        for each in batch.elements
    ]


def request(said, *, client_id="twin-id"):
    body = said if isinstance(said, bytes) else orjson.dumps(said)
    return PushRequest("t", {}, {"garmin-client-id": client_id}, body)


def test_people_sign_in_with_pkce_and_without_scopes(garmin):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{garmin.url}/oauth2Confirm?")
    assert parse_qs(urlsplit(url).query) == {
        "response_type": ["code"],
        "client_id": ["twin-id"],
        "redirect_uri": [BACK],
        "state": ["s-1"],
        "code_challenge": ["c-1"],
        "code_challenge_method": ["S256"],
    }


def test_tokens_come_with_the_users_id_and_permissions_and_rotate(garmin):
    first = signed_in(garmin)
    second = gateway().refresh_tokens(first)

    assert (first.external_user_id, first.scopes) == (garmin.user_id, ALL)
    assert first.expires_at == NOON + DAY
    assert (second.external_user_id, second.scopes) == (garmin.user_id, ALL)
    assert second.refresh_token != first.refresh_token
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(first)


def test_permissions_decide_what_is_offered(garmin):
    def offered(*scopes):
        return gateway().granted_resources(Grant("a", scopes=scopes))

    assert offered("ACTIVITY_EXPORT") == {"workouts", "workout_stream"}
    assert "sleep" in offered("HEALTH_EXPORT")
    assert "workouts" not in offered("HEALTH_EXPORT")
    assert offered("COURSE_IMPORT") == set()


def test_credentials_are_tried_and_consent_is_taken_back(garmin, time_machine):
    def works(secret):
        credentials = ClientCredentials("twin-id", secret)
        return gateway(credentials).check_credentials(redirect_url=BACK)

    assert works("twin-secret")
    assert not works("another")
    grant = signed_in(garmin)
    time_machine.move_to(NOON + 2 * DAY, tick=False)
    with pytest.raises(AccessExpired):
        gateway().find_granted_scopes(grant)
    gateway().revoke(grant)
    assert garmin.access_token == ""


def test_a_day_is_read_without_averages_of_seven_days(garmin):
    day = {
        "summaryId": "EXAMPLE_67891",
        "calendarDate": "2016-01-11",
        "activityType": "WALKING",
        "activeKilocalories": 321,
        "bmrKilocalories": 1731,
        "steps": 4210,
        "pushes": 10,
        "distanceInMeters": 3146.5,
        "durationInSeconds": 86400,
        "activeTimeInSeconds": 12240,
        "startTimeInSeconds": 1452470400,
        "startTimeOffsetInSeconds": 3600,
        "moderateIntensityDurationInSeconds": 81870,
        "vigorousIntensityDurationInSeconds": 4530,
        "floorsClimbed": 8,
        "minHeartRateInBeatsPerMinute": 59,
        "averageHeartRateInBeatsPerMinute": 64,
        "maxHeartRateInBeatsPerMinute": 112,
        "timeOffsetHeartRateSamples": {"15": 75, "3180": 76, "3195": -1},
    }

    assert read("dailies", "activity", day) == [
        (
            "watch",
            {
                "calendar_date": "2016-01-11",
                "timezone_offset": 3600,
                "steps": 4210,
                "distance": 3146.5,
                "calories_active": 321,
                "calories_total": 2052,
                "medium": 1364.5,
                "high": 75.5,
                "floors_climbed": 8,
                "wheelchair_use": True,
                "wheelchair_push": 10,
                "heart_rate": {"min_bpm": 59, "max_bpm": 112, "resting_bpm": None},
            },
        )
    ]
    assert read("dailies", "heartrate", day) == [
        ("watch", {"timestamp": "2016-01-11T01:00:15+01:00", "value": 75}),
        ("watch", {"timestamp": "2016-01-11T01:53:00+01:00", "value": 76}),
    ]


def test_epochs_of_one_quarter_of_an_hour_are_one_sample(garmin):
    walked = {
        "startTimeInSeconds": 1454418900,
        "startTimeOffsetInSeconds": 3600,
        "durationInSeconds": 900,
        "activityType": "WALKING",
        "steps": 93,
        "distanceInMeters": 49.5,
        "activeKilocalories": 24,
    }
    ran = walked | {"activityType": "RUNNING", "steps": 427, "distanceInMeters": 222.5}
    ends = "2016-02-02T14:30:00+01:00"

    assert read("epochs", "steps", walked, ran) == [
        ("watch", {"start": "2016-02-02T14:15:00+01:00", "end": ends, "value": 520})
    ]
    assert [each["value"] for _, each in read("epochs", "distance", walked, ran)] == [
        272.0
    ]


def test_a_night_ends_after_its_time_awake_and_has_its_stages_and_naps(garmin):
    night = {
        "summaryId": "EXAMPLE_567891",
        "calendarDate": "2016-01-11",
        "durationInSeconds": 11900,
        "startTimeInSeconds": 1452467493,
        "startTimeOffsetInSeconds": 7200,
        "unmeasurableSleepDurationInSeconds": 0,
        "deepSleepDurationInSeconds": 9446,
        "lightSleepDurationInSeconds": 312,
        "remSleepInSeconds": 2142,
        "awakeDurationInSeconds": 312,
        "sleepLevelsMap": {
            "deep": [
                {"startTimeInSeconds": 1452467493, "endTimeInSeconds": 1452476939}
            ],
            "rem": [
                {"startTimeInSeconds": 1452476940, "endTimeInSeconds": 1452479082},
                {"startTimeInSeconds": 1452479000, "endTimeInSeconds": 1452499082},
            ],
        },
        "validation": "ENHANCED_TENTATIVE",
        "timeOffsetSleepRespiration": {"60": 15.31, "120": 14.58, "180": 12.73},
        "overallSleepScore": {"value": 87, "qualifierKey": "GOOD"},
        "naps": [
            {
                "napDurationInSeconds": 600,
                "napStartTimeInSeconds": 1452510000,
                "napValidation": "DEVICE",
                "napOffsetInSeconds": 7200,
            }
        ],
    }

    (_, sleep), (_, nap) = read("sleeps", "sleep", night)
    ((_, cycle),) = read("sleeps", "sleep_cycle", night)

    assert sleep == {
        "external_id": "2016-01-11",
        "calendar_date": "2016-01-11",
        "bedtime_start": "2016-01-11T01:11:33+02:00",
        "bedtime_stop": "2016-01-11T04:35:05+02:00",
        "timezone_offset": 7200,
        "type": "long_sleep",
        "state": "tentative",
        "total": 11900,
        "awake": 312,
        "light": 312,
        "rem": 2142,
        "deep": 9446,
        "score": 87,
        "respiratory_rate": 14.21,
    }
    assert (nap["type"], nap["total"]) == ("acknowledged_nap", 600)
    assert cycle["external_id"] == "2016-01-11"
    assert list(
        zip(
            cycle["stage_type"],
            cycle["stage_start_offset_second"],
            cycle["stage_end_offset_second"],
            strict=True,
        )
    ) == [(1, 0, 9446), (3, 9447, 11589), (3, 11589, 12212)]


@pytest.mark.parametrize(
    ("kind", "resource", "item", "found"),
    [
        (
            "bodyComps",
            "weight",
            {
                "measurementTimeInSeconds": 1439741130,
                "measurementTimeOffsetInSeconds": 0,
                "bodyFatInPercent": 17.1,
                "weightInGrams": 75450,
            },
            [
                (
                    "scale",
                    {"timestamp": "2015-08-16T16:05:30+00:00", "value": 75.45},
                )
            ],
        ),
        (
            "bodyComps",
            "fat",
            {"measurementTimeInSeconds": 1439741130, "weightInGrams": 75450},
            [],
        ),
        (
            "stressDetails",
            "stress_level",
            {
                "startTimeInSeconds": 1490245200,
                "startTimeOffsetInSeconds": 0,
                "timeOffsetStressLevelValues": {"0": 18, "180": -2},
            },
            [("watch", {"timestamp": "2017-03-23T05:00:00+00:00", "value": 18})],
        ),
        (
            "hrv",
            "hrv",
            {
                "startTimeInSeconds": 1653976004,
                "startTimeOffsetInSeconds": -18000,
                "hrvValues": {"300": 32},
            },
            [("watch", {"timestamp": "2022-05-31T00:51:44-05:00", "value": 32})],
        ),
        (
            "allDayRespiration",
            "respiratory_rate",
            {
                "startTimeInSeconds": 1568171700,
                "startTimeOffsetInSeconds": -18000,
                "timeOffsetEpochToBreaths": {"0": 14.63},
            },
            [("watch", {"timestamp": "2019-09-10T22:15:00-05:00", "value": 14.63})],
        ),
        (
            "pulseox",
            "blood_oxygen",
            {
                "startTimeInSeconds": 1572303600.0,
                "startTimeOffsetInSeconds": 90_000,
                "timeOffsetSpo2Values": {"55740": 93, "soon": 94},
            },
            [("watch", {"timestamp": "2019-10-29T14:29:00+00:00", "value": 93})],
        ),
        (
            "userMetrics",
            "vo2_max",
            {"calendarDate": "2017-03-23", "vo2Max": 48.0, "fitnessAge": 32},
            [
                (
                    "watch",
                    {
                        "start": "2017-03-23T00:00:00+01:00",
                        "end": "2017-03-23T00:00:00+01:00",
                        "value": 48.0,
                    },
                )
            ],
        ),
        (
            "bloodPressures",
            "blood_pressure",
            {
                "systolic": 120,
                "diastolic": 110,
                "pulse": 82,
                "sourceType": "MANUAL",
                "measurementTimeInSeconds": 1663776000,
                "measurementTimeOffsetInSeconds": -18000,
            },
            [
                (
                    "app",
                    {
                        "timestamp": "2022-09-21T11:00:00-05:00",
                        "systolic": 120,
                        "diastolic": 110,
                    },
                )
            ],
        ),
        (
            "skinTemp",
            "body_temperature_delta",
            {
                "avgDeviationCelsius": -1.6,
                "durationInSeconds": 1980,
                "startTimeInSeconds": 1710767160,
                "startTimeOffsetInSeconds": -21600,
            },
            [
                (
                    "watch",
                    {
                        "start": "2024-03-18T07:06:00-06:00",
                        "end": "2024-03-18T07:39:00-06:00",
                        "value": -1.6,
                    },
                )
            ],
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_measurements_are_read_in_our_units(garmin, kind, resource, item, found):
    assert read(kind, resource, item, zone="Europe/Berlin") == found


def test_an_activity_is_a_workout_of_its_device_and_its_legs_count_once(garmin):
    run = garmin.add_activity(NOON - DAY)
    whole = run | {"isParent": True}
    typed = run | {"manual": True, "activityId": 7}

    content = orjson.dumps({"kind": "activities", "items": [whole, run, typed]})
    worn, by_hand = gateway().read_pushed(User(), "workouts", content).batches

    assert (worn.device.model, by_hand.device) == ("forerunner255", None)
    assert (str(worn.source_type), str(by_hand.source_type)) == ("watch", "app")
    (workout,) = worn.elements
    assert workout == {
        "external_id": str(run["activityId"]),
        "provider_id": str(run["activityId"]),
        "title": "Morning run",
        "time_start": "2026-03-08T12:00:00+00:00",
        "time_end": "2026-03-08T12:30:00+00:00",
        "timezone_offset": 0,
        "average_hr": 143,
        "max_hr": 166,
        "distance": 5100.0,
        "calories": 330,
        "total_elevation_gain": None,
        "average_speed": None,
        "max_speed": None,
        "steps": None,
        "sport": {"id": 0, "name": "Running", "slug": "running"},
    }


def test_a_ping_is_called_once_with_its_token_and_so_is_a_file(garmin):
    grant = signed_in(garmin)
    activity = garmin.add_activity(NOON - DAY, file=make_fit())
    garmin.announce_file(activity)
    (push,) = garmin.sender.waiting
    (notice,) = gateway().pushes.read(request(push.body), at=NOON)

    content = gateway().fetch_pushed(notice.content, grant=grant)
    (batch,) = gateway().read_pushed(User(), "workout_stream", content).batches

    assert notice.resources == ("workout_stream",)
    (recording,) = batch.elements
    assert recording["external_id"] == str(activity["activityId"])
    assert base64.b64decode(recording["fit"]) == make_fit()
    with pytest.raises(ResourceRefused):  # a file is given once
        gateway().fetch_pushed(notice.content, grant=grant)


def test_an_address_that_is_not_garmins_gets_no_token(garmin):
    grant = signed_in(garmin)
    before = len(garmin.log)
    content = orjson.dumps(
        {"kind": "dailies", "ping": {"callbackURL": "https://evil.example/x"}}
    )

    with pytest.raises(ResourceRefused):
        gateway().fetch_pushed(content, grant=grant)
    assert len(garmin.log) == before


def test_a_message_may_be_of_several_people_and_types(garmin):
    said = {
        "dailies": [
            {"userId": "u-1", "steps": 1},
            {"userId": "u-2", "steps": 2},
            {"userId": "u-1", "steps": 3},
            {"steps": 4},
        ],
        "deregistrations": [{"userId": "u-3"}],
        "moveIQActivities": [{"userId": "u-1"}],
    }

    first, second, third = gateway().pushes.read(request(said), at=NOON)

    assert (first.external_user_id, second.external_user_id) == ("u-1", "u-2")
    assert first.resources == ("activity", "heartrate")
    assert [each["steps"] for each in orjson.loads(first.content)["items"]] == [1, 3]
    assert third == ConsentChanged("u-3")


@pytest.mark.parametrize(
    ("said", "client_id"),
    [
        ({"dailies": []}, "another"),
        (b"{", "twin-id"),
        ([], "twin-id"),
        ({"dailies": {}}, "twin-id"),
    ],
    ids=["another application", "no JSON", "a list", "no list"],
)
def test_what_is_not_garmins_is_refused(garmin, said, client_id):
    with pytest.raises(PushRejected):
        gateway().pushes.read(request(said, client_id=client_id), at=NOON)


def test_the_past_is_asked_for_once_and_as_far_as_it_is_given(garmin):
    grant = signed_in(garmin)

    def ask(resource):
        pages = gateway().pull(
            User(), resource, NOON - 180 * DAY, until=NOON, grant=grant
        )
        page = next(pages)
        with pytest.raises(ComesLater):
            next(pages)
        return page

    page = ask("activity")
    ask("heartrate")  # of the same summaries

    asked = [status for *_, path, status in garmin.log if "backfill" in path]
    assert asked == [202, 400, 409, 400]
    assert (page.batches, page.position) == ((), NOON.isoformat())
    ended = gateway().pull(
        User(),
        "activity",
        NOON - 180 * DAY,
        until=NOON,
        grant=grant,
        position=(NOON - timedelta(minutes=30)).isoformat(),
    )
    assert list(ended) == []


def test_the_past_is_not_asked_for_where_the_user_did_not_allow_it(garmin):
    garmin.permissions = ["HEALTH_EXPORT"]
    grant = signed_in(garmin)

    gateway().request_history("activity", NOON - DAY, NOON, grant)

    assert not [path for *_, path, _ in garmin.log if "backfill" in path]
