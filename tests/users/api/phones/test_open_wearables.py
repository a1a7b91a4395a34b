"""The Open Wearables SDKs: pair, send, and what becomes of what was sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.factories.phones import (
    IPHONE,
    make_code,
    make_phone,
    make_record,
    make_stage,
    make_sync,
    send,
    store_all,
    sync,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.users.holdings import stored_rows
from users.models import Device, Phone, PhoneUpload, Summary

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
STEPS = "HKQuantityTypeIdentifierStepCount"


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, fallback_time_zone="America/New_York")


def summaries(user, kind):
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, kind=kind)
    return list(mine.order_by("starts_at"))


def samples(api, user, resource):
    path = f"/v2/timeseries/{user.uuid}/{resource}/grouped"
    reply = api.get(f"{path}?start_date=2026-03-01&end_date=2026-03-10")
    return {
        (group["source"]["provider"], group["source"]["type"]): [
            (each.get("start") or each.get("timestamp"), each.get("value"))
            for each in group["data"]
        ]
        for groups in reply.json()["groups"].values()
        for group in groups
    }


def test_an_app_is_paired_and_its_batch_becomes_samples_nights_and_workouts(
    alice_api, alice_tenant, user
):
    reply = send("/api/v1/invitation-code/redeem", {"code": make_code(user)})
    assert reply.status_code == 200
    told = reply.json()
    assert (told["user_id"], told["token_type"], told["expires_in"]) == (
        str(user.uuid),
        "bearer",
        3600,
    )
    batch = make_sync(
        records=[
            make_record(
                STEPS, 66, "2026-03-08T23:56:11Z", endDate="2026-03-09T00:02:58Z"
            ),
            make_record(
                STEPS,
                40,
                "2026-03-08T20:00:00Z",
                endDate="2026-03-08T20:10:00Z",
                source=IPHONE,
            ),
            make_record(
                "HKQuantityTypeIdentifierHeartRate",
                61,
                "2026-03-09T07:00:00Z",
                unit="bpm",
            ),
            make_record(
                "HKQuantityTypeIdentifierOxygenSaturation",
                97,
                "2026-03-09T07:00:00Z",
                unit="%",
            ),
            make_record(
                "HKQuantityTypeIdentifierBodyFatPercentage",
                0.231,
                "2026-03-09T07:00:00Z",
                unit="%",
            ),
            make_record(
                "HKQuantityTypeIdentifierBloodPressureDiastolic",
                78,
                "2026-03-09T07:05:00Z",
                unit="mmHg",
            ),
            make_record(
                "HKQuantityTypeIdentifierRestingHeartRate",
                52,
                "2026-03-09T03:00:00Z",
                unit="bpm",
            ),
            make_record(
                "HKQuantityTypeIdentifierHeight", 1.81, "2026-03-01T07:00:00Z", unit="m"
            ),
            make_record("HKQuantityTypeIdentifierNewThing", 1, "2026-03-09T07:00:00Z"),
        ],
        sleep=[
            make_stage("in_bed", "2026-03-09T03:00:00Z", "2026-03-09T10:00:00Z"),
            make_stage("light", "2026-03-09T03:10:00Z", "2026-03-09T06:10:00Z"),
        ],
        workouts=[
            {
                "id": "801B68D7-0000-4A23-BD26-A3BA1BA6B08D",
                "type": "strength_training",
                "startDate": "2026-03-08T17:00:00Z",
                "endDate": "2026-03-08T18:00:00Z",
                "zoneOffset": "-04:00",
                "source": IPHONE,
                "values": [
                    {"type": "duration", "value": 3500.4, "unit": "s"},
                    {"type": "activeEnergyBurned", "value": 310.5, "unit": "kcal"},
                    {"type": "averageHeartRate", "value": 121.49, "unit": "bpm"},
                    {"type": "indoorWorkout", "value": 1, "unit": "bool"},
                ],
            }
        ],
    )

    path = f"/api/v1/sdk/users/{user.uuid}/sync"
    answered = send(path, batch, told["access_token"], packed=True)

    assert (answered.status_code, answered.json()["status_code"]) == (202, 202)
    upload = PhoneUpload.objects.for_tenant(alice_tenant).get()
    assert (upload.outcome, "StepCount" in upload.content) == ("waiting", False)
    assert store_all(user) == 1
    upload.refresh_from_db()
    assert (upload.outcome, upload.content, upload.refused) == ("stored", "", 0)
    assert upload.unknown == {"HKQuantityTypeIdentifierNewThing": 1}
    assert upload.records == 12
    assert samples(alice_api, user, "steps") == {
        ("apple_health_kit", "watch"): [("2026-03-08T23:56:11+00:00", 66.0)],
        ("apple_health_kit", "phone"): [("2026-03-08T20:00:00+00:00", 40.0)],
    }
    assert samples(alice_api, user, "body_fat") == {
        ("apple_health_kit", "watch"): [("2026-03-09T07:00:00+00:00", 23.1)]
    }
    (night,) = summaries(user, "sleep")
    assert (night.body["duration"], night.body["light"], night.body["latency"]) == (
        25200,
        10800,
        600,
    )
    (workout,) = summaries(user, "workouts")
    assert workout.body["sport"]["slug"] == "strength_training"
    assert (workout.body["calories"], workout.body["average_hr"]) == (310.5, 121)
    assert (workout.body["moving_time"], workout.source_type) == (3500, "phone")
    (profile,) = summaries(user, "profile")
    assert profile.body["height"] == 181
    activity = {
        each.body["calendar_date"]: each.body for each in summaries(user, "activity")
    }
    assert activity["2026-03-08"]["steps"] == 106
    assert activity["2026-03-08"]["heart_rate"]["resting_bpm"] == 52
    assert {each.device_model for each in Device.objects.for_tenant(alice_tenant)} == {
        "Watch7,5",
        "iPhone16,1",
    }
    assert "daily.data.steps.created" in emitted_types(alice_tenant)

    # The other half comes later, and the night goes on.
    sync(
        user,
        type("T", (), {"access": told["access_token"]}),
        records=[
            make_record(
                "HKQuantityTypeIdentifierBloodPressureSystolic",
                121,
                "2026-03-09T07:05:00Z",
                unit="mmHg",
            )
        ],
        sleep=[make_stage("rem", "2026-03-09T02:20:00Z", "2026-03-09T02:50:00Z")],
    )
    assert store_all(user) == 1
    (again,) = summaries(user, "sleep")
    assert (again.id, again.body["rem"], again.body["duration"]) == (
        night.id,
        1800,
        27600,
    )
    assert len(summaries(user, "sleep_cycle")) == 1
    reply = alice_api.get(
        f"/v2/timeseries/{user.uuid}/blood_pressure/grouped?start_date=2026-03-09"
    )
    ((group,),) = reply.json()["groups"].values()
    (pressure,) = group["data"]
    assert (pressure["systolic"], pressure["diastolic"]) == (121, 78)


def test_the_same_batch_twice_and_from_two_phones_is_one(alice_tenant, user):
    _phone, first = make_phone(user)
    _phone, second = make_phone(user)
    lists = {"records": [make_record(STEPS, 66, "2026-03-08T23:56:11Z")]}

    replies = [sync(user, each, **lists) for each in (first, first, second)]

    assert {each.status_code for each in replies} == {202}
    assert len({each.json()["upload_id"] for each in replies}) == 1
    assert PhoneUpload.objects.for_tenant(alice_tenant).count() == 1
    assert store_all(user) == 1
    assert sync(user, second, **lists).status_code == 202
    assert store_all(user) == 0


def test_calls_without_a_right_are_refused_and_nothing_is_kept(alice_tenant, user):
    other = make_user(tenant=alice_tenant)
    phone, tokens = make_phone(user)
    path = f"/api/v1/sdk/users/{other.uuid}/sync"
    batch = make_sync(records=[make_record(STEPS, 66, "2026-03-08T23:56:11Z")])

    def kept():
        return {**stored_rows(alice_tenant), "Phone": None}

    before = kept()
    assert send(path, batch, tokens.access).status_code == 403
    assert send(path, batch).status_code == 401
    assert send(path, batch, "wrong").status_code == 401
    unknown = send(
        f"/api/v1/sdk/users/{user.uuid}/sync", {"provider": "abacus"}, tokens.access
    )
    assert unknown.status_code == 400
    assert kept() == before

    revoke = "/api/v1/token/revoke"
    assert send(revoke, {"refresh_token": tokens.refresh}).status_code == 204
    assert send(revoke, {"refresh_token": tokens.refresh}).status_code == 404
    phone.refresh_from_db()
    assert phone.revoked_at == NOW
    before = kept()
    assert sync(user, tokens).status_code == 401
    refresh = send("/api/v1/token/refresh", {"refresh_token": tokens.refresh})
    assert refresh.status_code == 401
    assert kept() == before


def test_what_cannot_be_stored_is_refused_record_by_record(alice_tenant, user):
    _phone, tokens = make_phone(user)
    deep = {}
    inner = deep
    for _each in range(150):
        inner["deep"] = {}
        inner = inner["deep"]
    records = [
        make_record(STEPS, 5, "2026-03-08T10:00:00Z", id="good"),
        make_record(STEPS, None, "2026-03-08T10:01:00Z", id="no value"),
        make_record(STEPS, 5, "yesterday", id="no time"),
        make_record(STEPS, 5, "2031-03-08T10:00:00Z", id="clock ahead"),
        make_record(STEPS, 5, "1931-03-08T10:00:00Z", id="clock behind"),
        make_record(STEPS, -5, "2026-03-08T10:02:00Z", id="negative"),
        make_record(STEPS, 5, "2026-03-08T10:03:00Z", id="unit", unit="kg"),
        make_record(STEPS, True, "2026-03-08T10:04:00Z", id="bool"),
        make_record(STEPS, 5, "2026-03-08T10:05:00Z", id="deep", metadata=deep),
        make_record(STEPS, 5, "2026-03-08T10:06:00Z", id="odd", source=[1]),
        make_record(
            "HKQuantityTypeIdentifierHeartRateVariabilitySDNN",
            50,
            "2026-03-08T10:07:00Z",
            id="sdnn",
            unit="ms",
        ),
        make_record({"a": 1}, 5, "2026-03-08T10:08:00Z", id="odd type"),
        7,
    ]

    reply = sync(
        user,
        tokens,
        records=records,
        sleep=[
            make_stage("dreaming", "2026-03-08T10:00:00Z", "2026-03-08T11:00:00Z"),
            make_stage("deep", "2026-03-08T10:00:00Z", "2026-03-08T09:00:00Z"),
            make_stage("deep", "2016-03-08T10:00:00Z", "2026-03-08T09:00:00Z"),
        ],
        workouts=[{"id": "w", "type": "running", "startDate": "2026-03-08T10:00:00Z"}],
    )

    assert reply.status_code == 202
    assert store_all(user) == 1
    upload = PhoneUpload.objects.for_tenant(alice_tenant).get()
    assert upload.outcome == "stored"
    assert {
        each["id"] or each["index"]: each["reason"] for each in upload.refusals
    } == {
        "no value": "no_value",
        "no time": "datetime_parsing",
        "clock ahead": "less_than_equal",
        "clock behind": "greater_than_equal",
        "negative": "greater_than_equal",
        "unit": "unknown_unit",
        "bool": "no_value",
        "sdnn": "no_beats",
        12: "bad_row",
        "dreaming-2026-03-08T10:00:00Z": "no_value",
        "deep-2026-03-08T10:00:00Z": "datetime_parsing",
        "deep-2016-03-08T10:00:00Z": "datetime_parsing",
        "w": "datetime_parsing",
    }
    assert upload.refused == 13
    assert upload.counts["steps"]["created"] == 3
    assert sum(upload.unknown.values()) == 1


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'{"provider": "apple", "data": ' + b"[" * 5000 + b"]" * 5000 + b"}", {}, 400),
        (b"\x1f\x8bnot gzip", {"content-encoding": "gzip"}, 400),
        (b"{}", {"content-encoding": "br"}, 400),
    ],
)
def test_broken_bodies_are_refused_and_not_kept(
    alice_tenant, user, content, headers, status
):
    _phone, tokens = make_phone(user)

    reply = send(
        f"/api/v1/sdk/users/{user.uuid}/sync", content, tokens.access, **headers
    )

    assert reply.status_code == status
    assert not PhoneUpload.objects.for_tenant(alice_tenant).exists()


def test_too_large_bodies_and_gzip_bombs_are_refused(alice_tenant, user, settings):
    _phone, tokens = make_phone(user)
    path = f"/api/v1/sdk/users/{user.uuid}/sync"
    bomb = b'{"provider": "apple", "pad": "' + b"0" * (33 * 2**20) + b'"}'

    assert send(path, b"0" * (10 * 2**20 + 1), tokens.access).status_code == 413
    assert send(path, bomb, tokens.access, packed=True).status_code == 413

    assert not PhoneUpload.objects.for_tenant(alice_tenant).exists()


def test_a_user_with_too_much_waiting_is_asked_to_come_back(
    alice_tenant, user, monkeypatch
):
    monkeypatch.setattr("users.operations.phones.uploads._WAITING_MAX", 2)
    _phone, tokens = make_phone(user)
    records = [
        [make_record(STEPS, number, "2026-03-08T23:56:11Z")] for number in range(1, 4)
    ]

    replies = [sync(user, tokens, records=each) for each in records]

    assert [each.status_code for each in replies] == [202, 202, 503]
    assert replies[-1]["Retry-After"] == "60"
    assert PhoneUpload.objects.for_tenant(alice_tenant).count() == 2
    assert store_all(user) == 2
    assert sync(user, tokens, records=records[-1]).status_code == 202


def test_a_refresh_rotates_and_a_replayed_one_ends_the_phone(user, time_machine):
    phone, tokens = make_phone(user)
    path = "/api/v1/token/refresh"

    lost = send(path, {"refresh_token": tokens.refresh}).json()
    # Its answer was lost: the old one works once more, until the new ones are used.
    again = send(path, {"refresh_token": tokens.refresh}).json()
    assert len({lost["access_token"], again["access_token"], tokens.access}) == 3
    assert sync(user, tokens).status_code == 401
    time_machine.shift(1)
    used = type("T", (), {"access": again["access_token"]})
    assert sync(user, used).status_code == 202

    assert send(path, {"refresh_token": tokens.refresh}).status_code == 401

    phone.refresh_from_db()
    assert phone.revoked_at is not None
    assert sync(user, used).status_code == 401
    assert send(path, {"refresh_token": again["refresh_token"]}).status_code == 401


def test_tokens_end_after_an_hour(user, time_machine):
    _phone, tokens = make_phone(user)
    time_machine.shift(3600)

    assert sync(user, tokens).status_code == 401
    assert (
        send("/api/v1/token/refresh", {"refresh_token": tokens.refresh}).status_code
        == 200
    )


def test_logs_tell_which_types_could_not_be_read(alice_tenant, user):
    phone, tokens = make_phone(user)
    path = f"/api/v1/sdk/users/{user.uuid}/logs"
    events = [
        {
            "eventType": "historical_data_sync_start",
            "timestamp": "2026-03-09T12:00:00Z",
            "dataTypeCounts": [{"type": "sleep", "count": 0}, {"type": 5}],
        },
        {
            "eventType": "historical_data_type_sync_end",
            "timestamp": "2026-03-09T12:00:00Z",
            "dataType": "steps",
            "success": False,
            "recordCount": 3,
        },
        {"eventType": "device_state", "batteryLevel": 0.5},
        "odd",
    ]

    assert (
        send(path, {"sdkVersion": "0.9.1", "events": events}, tokens.access).status_code
        == 202
    )
    assert (
        send(path, {"sdkVersion": "0.9.1", "events": []}, tokens.access).status_code
        == 422
    )

    phone = Phone.objects.for_tenant(alice_tenant).get(pk=phone.pk)
    at = NOW.isoformat()
    assert phone.app_version == "0.9.1"
    assert phone.reported == {
        "sleep": {"at": at, "count": 0},
        "steps": {"at": at, "ok": False, "count": 3},
    }
