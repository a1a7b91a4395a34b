"""Health Auto Export, HCGateway, and our own push."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest
from django.test import Client

from tests.factories.phones import make_code, make_phone, send, store_all
from tests.factories.users import make_user
from users.models import Phone, PhoneUpload, Summary
from users.states.phones import PhoneApp

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
EXPORT = "/phone/health-auto-export"


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def stored(user):
    """What the last batch became."""
    assert store_all(user) == 1
    upload = PhoneUpload.objects.for_tenant(user.tenant).order_by("-id").first()
    created = {name: each["created"] for name, each in upload.counts.items()}
    return upload, created


def bodies(user, kind):
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, kind=kind)
    return [each.body for each in mine.order_by("starts_at")]


def metric(name, units, *data):
    return {"name": name, "units": units, "data": list(data)}


def test_health_auto_export_sends_metrics_nights_and_workouts(alice_api, user):
    _phone, tokens = make_phone(user, PhoneApp.HEALTH_AUTO_EXPORT)
    assert (tokens.refresh, tokens.expires_at) == ("", None)
    day = "2026-03-08 00:00:00 +0100"
    body = {
        "data": {
            "metrics": [
                metric("step_count", "count", {"date": day, "qty": 8123.4,
                                               "source": "Ana’s Apple Watch|iPhone"}),
                metric("active_energy", "kJ", {"date": day, "qty": 1673.6}),
                metric("heart_rate", "count/min", {"date": "2026-03-08 07:00:10 +0100",
                                                   "Min": 50, "Avg": 61.5, "Max": 90}),
                metric("blood_pressure", "mmHg", {"date": "2026-03-08 07:01:00 +0100",
                                                  "systolic": 120, "diastolic": 80}),
                metric("resting_heart_rate", "bpm", {"date": day, "qty": 58}),
                metric("heart_rate_variability", "ms", {"date": day, "qty": 40}),
                metric("walking_speed", "km/hr", {"date": day, "qty": 4}),
                metric("basal_body_temperature", "degC"),
                {"name": "weight_body_mass", "units": "kg", "data": None},
                metric(
                    "sleep_analysis", "hr",
                    {"date": "2026-03-08", "totalSleep": 7.5, "core": 4, "deep": 1.5,
                     "rem": 2, "awake": 0.25, "sleepStart": "2026-03-07 23:00:00 +0100",
                     "sleepEnd": "2026-03-08 07:00:00 +0100",
                     "inBedStart": "2026-03-07 22:45:00 +0100",
                     "inBedEnd": "2026-03-08 07:15:00 +0100"},
                ),
            ],
            "workouts": [
                {"id": "w1", "name": "Outdoor Run",
                 "start": "2026-03-08 08:00:00 +0100",
                 "end": "2026-03-08 08:30:00 +0100", "duration": 1800,
                 "distance": {"qty": 5.2, "units": "km"},
                 "activeEnergyBurned": {"qty": 300, "units": "kcal"},
                 "heartRate": {"avg": {"qty": 150.4, "units": "bpm"}}},
                {"name": "Walking", "start": "2026-03-08 09:00:00 +0100",
                 "end": "2026-03-08 09:20:00 +0100",
                 "activeEnergy": {"qty": 226.2, "units": "kJ"},
                 "elevation": {"units": "m", "ascent": 16.36, "descent": 0}},
            ],
            "stateOfMind": [{"start": "x"}],
        }
    }  # fmt: skip

    reply = send(EXPORT, body, tokens.access, **{"automation-aggregation": "days"})

    assert reply.status_code == 202
    upload, created = stored(user)
    assert created == {
        "steps": 1,
        "calories_active": 1,
        "heartrate": 1,
        "blood_pressure": 1,
        "activity": 1,
        "sleep": 1,
        "workouts": 2,
    }
    assert upload.unknown == {"walking_speed": 1, "stateOfMind": 1}
    assert [each["reason"] for each in upload.refusals] == ["no_beats"]
    reply = alice_api.get(
        f"/v2/timeseries/{user.uuid}/steps/grouped?start_date=2026-03-07"
    )
    ((group,),) = reply.json()["groups"].values()
    (steps,) = group["data"]
    assert group["source"]["type"] == "multiple_sources"
    assert (steps["start"], steps["end"]) == (
        "2026-03-07T23:00:00+00:00",
        "2026-03-08T23:00:00+00:00",
    )
    (night,) = bodies(user, "sleep")
    assert (night["total"], night["light"], night["duration"]) == (27000, 14400, 30600)
    run, walk = bodies(user, "workouts")
    assert (run["distance"], run["average_hr"], run["moving_time"]) == (5200, 150, 1800)
    assert (round(walk["calories"], 2), walk["total_elevation_gain"]) == (54.06, 16.36)
    # Sent again, and with a point more.
    assert send(EXPORT, body, tokens.access).status_code == 202
    assert stored(user)[1]["steps"] == 0
    assert not {"Ana", "Watch|iPhone"} & set(str(upload.refusals).split())


def test_stages_of_health_auto_export_make_one_night(user):
    _phone, tokens = make_phone(user, PhoneApp.HEALTH_AUTO_EXPORT)
    stages = [
        {"startDate": f"2026-03-08 0{hour}:00:00 +0100",
         "endDate": f"2026-03-08 0{hour + 1}:00:00 +0100",
         "value": value, "qty": 1, "source": "Watch"}
        for hour, value in enumerate(["Core", "Deep", "REM", "Awake", "In Bed"], 1)
    ]  # fmt: skip
    for stage in reversed(stages):
        body = {"data": {"metrics": [metric("sleep_analysis", "hr", stage)]}}
        assert send(EXPORT, body, tokens.access).status_code == 202

    assert store_all(user) == 5

    (night,) = bodies(user, "sleep")
    assert (night["duration"], night["total"], night["awake"]) == (18000, 10800, 3600)
    (cycle,) = bodies(user, "sleep_cycle")
    assert cycle["stage_type"] == [2, 1, 3, 4]


def test_health_connect_records_come_in_the_shape_of_hcgateway(alice_tenant, user):
    told = send("/api/v2/login", {"username": "me", "password": make_code(user)})
    assert told.status_code == 201
    token = told.json()["token"]
    device = {"type": 1, "manufacturer": "Acme", "model": "W2"}
    metadata = {"id": "1", "dataOrigin": "com.example.watch", "device": device}
    span = {"startTime": "2026-03-08T07:00:00Z", "endTime": "2026-03-08T07:30:00Z",
            "metadata": metadata}  # fmt: skip
    sent = {
        "Steps": [{**span, "count": 900}],
        "Distance": [{**span, "distance": {"inMeters": 700.5, "inMiles": 1}}],
        "HeartRate": {**span, "samples": [
            {"time": "2026-03-08T07:00:00Z", "beatsPerMinute": 70},
            {"time": "2026-03-08T07:01:00Z", "beatsPerMinute": 72}]},
        "BloodPressure": [{"time": "2026-03-08T07:00:00Z", "metadata": metadata,
                           "systolic": {"inMillimetersOfMercury": 118},
                           "diastolic": {"inMillimetersOfMercury": 76}}],
        "Hydration": [{**span, "volume": {"inLiters": 0.25}}],
        "SleepSession": {**span, "endTime": "2026-03-08T12:00:00Z", "stages": [
            {"startTime": "2026-03-08T07:00:00Z", "endTime": "2026-03-08T08:00:00Z",
             "stage": 4},
            {"startTime": "2026-03-08T08:00:00Z", "endTime": "2026-03-08T12:00:00Z",
             "stage": 5}]},
        "ExerciseSession": [{**span, "exerciseType": 79, "title": "Round"}],
        "StepsCadence": [{**span, "samples": []}, 7],
    }  # fmt: skip
    for kind, data in sent.items():
        reply = send(f"/api/v2/sync/{kind}", {"data": data}, token)
        assert (reply.status_code, reply.json()) == (200, {"success": True})

    assert store_all(user) == 8

    uploads = PhoneUpload.objects.for_tenant(alice_tenant).order_by("id")
    counts = {}
    for each in uploads:
        for name, count in each.counts.items():
            counts[name] = counts.get(name, 0) + count["created"]
    assert counts == {
        "steps": 1,
        "distance": 1,
        "heartrate": 2,
        "blood_pressure": 1,
        "water": 1,
        "sleep": 1,
        "sleep_cycle": 1,
        "workouts": 1,
    }
    assert [each.unknown for each in uploads][-1] == {"StepsCadence": 1}
    (night,) = bodies(user, "sleep")
    assert (night["light"], night["deep"]) == (3600, 14400)
    (activity,) = bodies(user, "activity")
    assert (activity["steps"], activity["distance"]) == (900, 700.5)
    renewed = send("/api/v2/refresh", {"refresh": token}).json()
    assert renewed["token"] == token
    bearer = {"authorization": f"Bearer {token}"}
    assert Client().delete("/api/v2/revoke", headers=bearer).status_code == 200
    before = uploads.count()
    assert send("/api/v2/sync/Steps", {"data": []}, token).status_code == 403
    assert send("/api/v2/refresh", {"refresh": token}).status_code == 403
    assert send("/api/v2/login", {"password": "AAAAAAAA"}).status_code == 403
    assert uploads.count() == before


def test_our_own_push_tells_what_became_of_each_element(alice_tenant, user):
    paired = send("/phone/pair", {"code": make_code(user)}).json()
    token = paired["access_token"]
    body = {
        "provider": "health_connect",
        "batches": [
            {
                "resource": "steps",
                "source_type": "watch",
                "device": {"id": "w-1", "manufacturer": "Acme", "model": "W2"},
                "data": [
                    {"start": "2026-03-08T10:00:00Z", "end": "2026-03-08T10:01:00Z",
                     "value": 60},
                    {"start": "2026-03-08T10:01:00Z", "value": 61},
                    7,
                ],
            },
            {"resource": "weight", "data": [{"timestamp": "2026-03-08T10:00:00Z",
                                             "value": 71.5}]},
            {"resource": "mood", "data": [{}]},
            {"resource": "floors_climbed", "samples": [{"value": 3}]},
            7,
        ],
    }  # fmt: skip

    reply = send("/phone/uploads", body, token)

    assert reply.status_code == 202
    assert reply.json()["status"] == "waiting"
    upload, created = stored(user)
    assert created == {"steps": 1, "weight": 1}
    path = f"/phone/uploads/{upload.uuid}"
    bearer = {"authorization": f"Bearer {token}"}
    told = Client().get(path, headers=bearer).json()
    assert (told["status"], told["records"], told["refused"]) == ("stored", 7, 4)
    assert told["unknown_types"] == {"mood": 1}
    assert [
        (each["list"], each["index"], each["reason"]) for each in told["refusals"]
    ] == [
        ("floors_climbed", 0, "bad_row"),
        ("batches", 0, "bad_row"),
        ("steps", 1, "missing"),
        ("steps", 2, "value_error"),
    ]
    _phone, other = make_phone(make_user(tenant=alice_tenant))
    stranger = {"authorization": f"Bearer {other.access}"}
    assert Client().get(path, headers=stranger).status_code == 404
    assert send("/phone/uploads", {"provider": "abacus"}, token).status_code == 400
    assert send("/phone/uploads", {"provider": "oura"}, token).status_code == 400
    assert Client().delete("/phone", headers=bearer).status_code == 204
    assert send("/phone/uploads", body, token).status_code == 401
    assert Phone.objects.for_tenant(alice_tenant).filter(revoked_at=None).count() == 1
    assert (
        orjson.loads(Client().get(path, headers=bearer).content)["code"]
        == "token_unknown"
    )
