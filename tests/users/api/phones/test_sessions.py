"""Routes, electrocardiograms, meals and cycles: records of a resource of their own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.factories.phones import (
    IPHONE,
    make_phone,
    make_record,
    send,
    store_all,
    sync,
)
from tests.factories.users import make_user
from users.models import PhoneUpload, Summary
from users.operations.phones.uploads import delete_old_uploads
from users.states.phones import PhoneApp

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
FLOW = "HKCategoryTypeIdentifierMenstrualFlow"


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def bodies(user, kind):
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, kind=kind)
    return [(each.id, each.body) for each in mine.order_by("starts_at")]


def stream(api, workout_id):
    found = api.get(f"/v2/timeseries/workouts/{workout_id}/stream").json()
    return {name: each for name, each in found.items() if each is not None}


def test_a_workout_of_the_sdk_has_a_stream_of_its_route_and_samples(alice_api, user):
    _phone, tokens = make_phone(user)
    at = "2026-03-08T17:00:0"
    workout = {
        "id": "w",
        "type": "RUNNING",
        "startDate": f"{at}0Z",
        "endDate": "2026-03-08T17:30:00Z",
        "zoneOffset": "+01:00",
        "source": IPHONE,
        "values": None,
        "route": [
            {
                "timestamp": f"{at}0Z",
                "latitude": 52.5,
                "longitude": 21.0,
                "altitudeM": 142.0,
                "horizontalAccuracyM": 3.5,
                "verticalAccuracyM": None,
            },
            {"timestamp": f"{at}5Z", "latitude": 52.6, "longitude": 999},
            {"timestamp": "never", "latitude": 1, "longitude": 1},
            7,
        ],
        "samples": [
            {"timestamp": f"{at}0Z", "type": "heartRate", "value": 110, "unit": "bpm"},
            {"timestamp": f"{at}5Z", "type": "speed", "value": 1.8, "unit": "m/s"},
            {"timestamp": f"{at}5Z", "type": "speed", "value": 4, "unit": "mph"},
            {"timestamp": f"{at}5Z", "type": "cadence", "value": 155, "unit": "spm"},
        ],
    }
    for _twice in range(2):
        assert sync(user, tokens, workouts=[workout]).status_code == 202
        store_all(user)

    ((workout_id, _body),) = bodies(user, "workouts")
    assert stream(alice_api, workout_id) == {
        "time": [1772989200, 1772989205],
        "heartrate": [110, None],
        "altitude": [142.0, None],
        "velocity_smooth": [None, 1.8],
        "lat": [52.5, 52.6],
        "lng": [21.0, None],
    }
    upload = PhoneUpload.objects.for_tenant(user.tenant).get()
    assert upload.counts["workout_stream"]["created"] == 1


def test_health_auto_export_brings_electrocardiograms_alerts_and_routes(
    alice_api, user
):
    _phone, tokens = make_phone(user, PhoneApp.HEALTH_AUTO_EXPORT)
    at = "2026-03-08 08:00:00 +0100"
    volt = {"date": at, "voltage": -12.5, "units": "mcV"}
    rate = {"hr": 131, "units": "bpm", "timestamp": {"start": at, "end": at}}
    body = {
        "data": {
            "metrics": [],
            "ecg": [
                {
                    "start": at,
                    "end": "2026-03-08 08:00:30 +0100",
                    "classification": "Inconclusive High Heart Rate",
                    "averageHeartRate": 121,
                    "numberOfVoltageMeasurements": 4,
                    "voltageMeasurements": [volt] * 4,
                    "samplingFrequency": 512,
                    "source": "Ana's Apple Watch",
                },
                {"start": at, "samplingFrequency": 512, "voltageMeasurements": []},
                {"start": "x", "samplingFrequency": 0},
                [],
            ],
            "heartRateNotifications": [
                {"start": at, "end": at, "threshold": 120, "heartRate": [rate]},
                {"start": at, "end": at, "heartRate": [rate]},
            ],
            "cycleTracking": [{"anything": 1}],
            "workouts": [
                {
                    "id": "w",
                    "name": "Outdoor Run",
                    "start": at,
                    "end": "2026-03-08 08:20:00 +0100",
                    "route": [
                        {"latitude": 1.0, "longitude": 2.0, "timestamp": at},
                        {"lat": 1.5, "lon": 2.5, "timestamp": "2026-03-08T07:00:09Z"},
                    ],
                    "heartRateData": [{"date": at, "Avg": 120.4, "units": "bpm"}],
                }
            ],
        }
    }
    assert send("/phone/health-auto-export", body, tokens.access).status_code == 202
    assert store_all(user) == 1

    ((_id, ecg),) = bodies(user, "electrocardiogram")
    assert (ecg["classification"], ecg["inconclusive_cause"]) == (
        "inconclusive",
        "high_heart_rate",
    )
    assert (ecg["voltage_sample_count"], ecg["heart_rate_mean"]) == (4, 121)
    path = f"/v2/timeseries/{user.uuid}"
    days = "grouped?start_date=2026-03-08&end_date=2026-03-08"
    found = alice_api.get(f"{path}/electrocardiogram_voltage/{days}").json()
    ((group,),) = found["groups"].values()
    assert [each["value"] for each in group["data"]] == [-0.0125] * 4
    found = alice_api.get(f"{path}/heart_rate_alert/{days}").json()
    ((group,),) = found["groups"].values()
    assert [each["type"] for each in group["data"]] == ["high_heart_rate"]
    ((workout_id, _body),) = bodies(user, "workouts")
    assert stream(alice_api, workout_id) == {
        "time": [1772953200, 1772953209],
        "heartrate": [120, None],
        "lat": [1.0, 1.5],
        "lng": [2.0, 2.5],
    }
    upload = PhoneUpload.objects.for_tenant(user.tenant).get()
    assert upload.unknown == {"heartRateNotifications": 1, "cycleTracking": 1}
    assert [each["reason"] for each in upload.refusals] == [
        "no_value",
        "datetime_parsing",
        "bad_row",
    ]


def gateway(user, tokens, type_, *records):
    reply = send(f"/api/v2/sync/{type_}", {"data": list(records)}, tokens.access)
    assert reply.status_code == 200
    assert store_all(user) == 1


def test_health_connect_brings_meals_and_routes(alice_api, user):
    _phone, tokens = make_phone(user, PhoneApp.HCGATEWAY)
    span = {
        "startTime": "2026-03-08T12:00:00Z",
        "endTime": "2026-03-08T12:20:00Z",
        "startZoneOffset": {"id": "+01:00", "totalSeconds": 3600},
    }
    meal = {
        **span,
        "metadata": {"id": "m-1", "dataOrigin": "com.example.food"},
        "mealType": 2,
        "energy": {"inKilocalories": 640.5},
        "totalCarbohydrate": {"inGrams": 71},
        "totalFat": {"inGrams": 20},
        "cholesterol": {"inGrams": 0.08},
    }
    empty = {**span, "metadata": {"id": "m-2"}, "energy": 7}
    gateway(user, tokens, "nutrition", meal, empty)
    place = {"time": span["startTime"], "latitude": 1, "longitude": 2}
    route = [place, {**place, "time": "2026-03-08T12:00:05Z", "altitude": 3}]
    session = {**span, "exerciseType": 79, "exerciseRoute": {"route": route}}
    gateway(user, tokens, "exerciseSession", {**session, "metadata": {"id": "w"}})

    ((_id, kept),) = bodies(user, "meal")
    assert (kept["name"], kept["energy"]) == ("Lunch", {"unit": "kcal", "value": 640.5})
    assert (kept["macros"]["carbs"], kept["macros"]["fats"]["total"]) == (71, 20)
    assert kept["macros"]["cholesterol"] is None
    upload = PhoneUpload.objects.for_tenant(user.tenant).order_by("id").first()
    assert [each["reason"] for each in upload.refusals] == ["no_value"]
    ((workout_id, _body),) = bodies(user, "workouts")
    assert stream(alice_api, workout_id)["lat"] == [1, 1]


def test_cycles_are_made_of_entries_in_any_order_and_of_any_batch(user, time_machine):
    _phone, tokens = make_phone(user)

    def entry(type_, value, day, **metadata):
        start = f"{day}T09:00:00Z"
        type_ = f"HKCategoryTypeIdentifier{type_}"
        return make_record(type_, value, start, metadata=metadata or None)

    later = [
        entry("MenstrualFlow", 3, "2026-03-01", HKMenstrualCycleStart=1),
        entry("MenstrualFlow", 2, "2026-03-02", HKMenstrualCycleStart=0),
        entry("OvulationTestResult", 2, "2026-02-14"),
    ]
    earlier = [
        entry("MenstrualFlow", 4, "2026-02-01", HKMenstrualCycleStart="true"),
        entry("SexualActivity", 0, "2026-02-10", HKSexualActivityProtectionUsed=True),
        entry("SexualActivity", 0, "2026-02-11"),
        entry("CervicalMucusQuality", 99, "2026-02-12"),
        entry("IntermenstrualBleeding", 0, "2026-02-20"),
    ]
    for batch in (later, earlier, later + earlier):
        assert sync(user, tokens, records=batch).status_code == 202
        store_all(user)

    (_id, first), (second_id, second) = bodies(user, "menstrual_cycle")
    assert (first["period_start"], first["cycle_end"]) == ("2026-02-01", "2026-02-28")
    assert first["menstrual_flow"] == [{"date": "2026-02-01", "flow": "heavy"}]
    assert first["ovulation_test"] == [
        {"date": "2026-02-14", "test_result": "luteinizing_hormone_surge"}
    ]
    assert first["sexual_activity"] == [{"date": "2026-02-10", "protection_used": True}]
    assert first["intermenstrual_bleeding"] == [{"date": "2026-02-20"}]
    assert (second["period_start"], second["period_end"]) == (
        "2026-03-01",
        "2026-03-02",
    )
    upload = PhoneUpload.objects.for_tenant(user.tenant).order_by("id")[1]
    assert [each["reason"] for each in upload.refusals] == ["no_value", "no_value"]

    # A day before turns out to be the first: the cycle begins there.
    start = entry("MenstrualFlow", 2, "2026-02-28")
    assert sync(user, tokens, records=[start]).status_code == 202
    store_all(user)
    time_machine.shift(400 * 24 * 3600)
    delete_old_uploads()
    another = [entry("MenstrualFlow", 2, "2026-03-03")]
    _phone, tokens = make_phone(user)
    assert sync(user, tokens, records=another).status_code == 202
    store_all(user)

    found = [each["period_start"] for _id, each in bodies(user, "menstrual_cycle")]
    assert found == ["2026-02-01", "2026-02-28", "2026-03-01"]
    last = bodies(user, "menstrual_cycle")[-1]
    assert (last[0], last[1]["period_end"]) == (second_id, "2026-03-03")


def test_periods_of_health_connect_are_days_and_flows_say_how_strong(user):
    _phone, tokens = make_phone(user, PhoneApp.HCGATEWAY)
    span = {"startTime": "2026-03-01T08:00:00Z", "endTime": "2026-03-03T08:00:00Z"}
    long = {"startTime": "2025-03-01T08:00:00Z", "endTime": "2026-03-03T08:00:00Z"}
    gateway(user, tokens, "menstruationPeriod", span, long)
    gateway(
        user, tokens, "menstruationFlow", {"time": "2026-03-02T09:00:00Z", "flow": 3}
    )
    for kind, more in (
        ("ovulationTest", {"result": 1}),
        ("cervicalMucus", {"appearance": 5}),
        ("sexualActivity", {"protectionUsed": 2}),
        ("intermenstrualBleeding", {}),
    ):
        gateway(user, tokens, kind, {"time": "2026-03-05T09:00:00Z", **more})

    ((_id, cycle),) = bodies(user, "menstrual_cycle")
    assert cycle["menstrual_flow"] == [
        {"date": "2026-03-01", "flow": "unspecified"},
        {"date": "2026-03-02", "flow": "heavy"},
        {"date": "2026-03-03", "flow": "unspecified"},
    ]
    assert cycle["ovulation_test"] == [
        {"date": "2026-03-05", "test_result": "positive"}
    ]
    assert cycle["cervical_mucus"] == [{"date": "2026-03-05", "quality": "egg_white"}]
    assert cycle["sexual_activity"] == [
        {"date": "2026-03-05", "protection_used": False}
    ]
    assert cycle["intermenstrual_bleeding"] == [{"date": "2026-03-05"}]
    upload = PhoneUpload.objects.for_tenant(user.tenant).order_by("id").first()
    assert [each["reason"] for each in upload.refusals] == ["datetime_parsing"]
