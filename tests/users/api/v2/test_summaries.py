from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.summaries import (
    LEAST,
    MOST,
    cycle_element,
    night_element,
    record,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.statements import count_statements
from tests.users.holdings import stored_rows
from users.wearables.summaries import SUMMARIES

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEVICE = "0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111"
LISTS = [
    "menstrual_flow",
    "cervical_mucus",
    "intermenstrual_bleeding",
    "contraceptive",
    "detected_deviations",
    "ovulation_test",
    "home_pregnancy_test",
    "home_progesterone_test",
    "sexual_activity",
    "basal_body_temperature",
]


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def path(user, slug):
    return f"/v2/summary/{slug}/{user.uuid}"


def push(api, user, slug, *elements, **batch):
    body = {"provider": "oura", "data": list(elements), **batch}
    return api.post(path(user, slug), body)


def read(api, user, slug, **query):
    reply = api.get(path(user, slug), {"start_date": "2026-01-01", **query})
    assert reply.status_code == 200
    return reply.json()[slug]


def test_a_cycle_is_answered_with_every_key(alice_api, user):
    pushed = push(
        alice_api,
        user,
        "menstrual_cycle",
        cycle_element(
            menstrual_flow=[{"date": "2026-02-02", "flow": "Heavy"}],
            sexual_activity=[{"date": "2026-02-12", "protection_used": True}],
            basal_body_temperature=[{"date": "2026-02-03", "value": 36.45}],
            ovulation_test=[
                {"date": "2026-02-15", "test_result": "luteinizing-hormone surge"}
            ],
        ),
        provider="apple_health_kit",
        source_type="app",
        app_id="com.example.cycle",
        device_id=DEVICE,
    )

    (cycle,) = read(alice_api, user, "menstrual_cycle")
    assert pushed.status_code == 200
    assert pushed.json() == {
        "success": True,
        "created": 1,
        "updated": 0,
        "dropped": 0,
        "ids": [cycle["id"]],
    }
    assert cycle == {
        **{name: [] for name in LISTS},
        "id": cycle["id"],
        "user_id": str(user.uuid),
        "period_start": "2026-02-02",
        "period_end": "2026-02-06",
        "cycle_end": "2026-03-01",
        "is_predicted": False,
        "menstrual_flow": [{"date": "2026-02-02", "flow": "heavy"}],
        "sexual_activity": [{"date": "2026-02-12", "protection_used": True}],
        "basal_body_temperature": [{"date": "2026-02-03", "value": 36.45}],
        "ovulation_test": [
            {"date": "2026-02-15", "test_result": "luteinizing_hormone_surge"}
        ],
        "source": {
            "app_id": "com.example.cycle",
            "device_id": DEVICE,
            "provider": "apple_health_kit",
            "type": "app",
        },
        "source_provider": "apple_health_kit",
        "source_type": "app",
        "source_app_id": "com.example.cycle",
        "created_at": "2026-03-01T12:00:00+00:00",
        "updated_at": "2026-03-01T12:00:00+00:00",
    }


def test_a_night_is_answered_with_every_key(alice_api, user):
    push(alice_api, user, "sleep_cycle", night_element())

    (night,) = read(alice_api, user, "sleep_cycle")
    assert night == {
        "id": night["id"],
        "sleep_id": night["sleep_id"],
        "user_id": str(user.uuid),
        "session_start": "2026-02-28T22:00:00",
        "session_end": "2026-03-01T00:00:00",
        "stage_start_offset_second": [0, 1800, 5400],
        "stage_end_offset_second": [1800, 5400, 7200],
        "stage_type": [2, 1, 3],
        "time_zone": "Europe/Berlin",
        "source": {"device_id": None, "provider": "oura", "type": "unknown"},
        "source_provider": "oura",
        "source_type": "unknown",
        "created_at": "2026-03-01T12:00:00+00:00",
        "updated_at": "2026-03-01T12:00:00+00:00",
    }


@pytest.mark.parametrize("elements", [LEAST, MOST], ids=["least", "most"])
@pytest.mark.parametrize("slug", sorted(SUMMARIES))
def test_answers_are_as_published(alice_api, user, slug, elements):
    published = f"/v2/summary/{slug}/{{user_id}}"

    check_answer(push(alice_api, user, slug, elements[slug]), "post", published)
    reply = alice_api.get(path(user, slug), {"start_date": "2026-01-01"})
    check_answer(reply, "get", published)
    check_answer(push(alice_api, user, slug), "post", published)


@pytest.mark.parametrize("slug", sorted(SUMMARIES))
def test_every_resource_gives_back_what_it_was_given(alice_api, user, slug):
    element = MOST[slug]
    push(alice_api, user, slug, element, provider="manual", source_type="watch")

    answer = alice_api.get(path(user, slug), {"start_date": "2026-01-01"}).json()

    key = SUMMARIES[slug].key
    found = answer if key is None else answer[key][0]
    assert {name: found[name] for name in element} == element
    assert found["user_id"] == str(user.uuid)
    assert found["source"]["provider"] == "manual"
    assert found["source"]["type"] == "watch"
    assert found["created_at"] == found["updated_at"] == "2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize("slug", sorted(SUMMARIES))
def test_every_resource_keeps_what_is_pushed_again(alice_api, alice_tenant, user, slug):
    first = push(alice_api, user, slug, MOST[slug]).json()

    again = push(alice_api, user, slug, MOST[slug]).json()

    assert again == {**first, "created": 0}
    assert (first["created"], len(emitted_types(alice_tenant))) == (1, 2)


SOURCE = {
    "provider": "oura",
    "type": "unknown",
    "app_id": None,
    "device_id": None,
    "sport": None,
    "workout_id": None,
}


@pytest.mark.parametrize(
    ("slug", "filled"),
    [
        (
            "activity",
            {
                "date": "2026-02-28T00:00:00+00:00",
                "time_zone": "Asia/Kolkata",
                "timezone_offset": 19800,
                "heart_rate": None,
            },
        ),
        (
            "sleep",
            {
                "date": "2026-03-01T00:00:00+00:00",
                "calendar_date": "2026-03-01",
                "type": "unknown",
                "timezone_offset": 19800,
                "duration": 28800,
                "total": 28800,
                "awake": 0,
                "light": 0,
                "sleep_stream": None,
            },
        ),
        ("body", {"date": "2026-02-28T00:00:00+00:00", "weight": None}),
        (
            "workouts",
            {
                "calendar_date": "2026-02-28",
                "timezone_offset": 19800,
                "provider_id": "2026-02-28T17:00:00+00:00",
                "sport": None,
            },
        ),
        (
            "meal",
            {
                "calendar_date": "2026-02-28",
                "provider_id": "2026-02-28T08:00:00+00:00/Porridge",
                "priority_id": 1,
                "source_id": 1,
                "source_app_id": None,
                "source_device_id": None,
            },
        ),
        (
            "electrocardiogram",
            {
                "time_zone": "Asia/Kolkata",
                "classification": None,
                "source_provider": "oura",
                "source_type": "unknown",
            },
        ),
        ("profile", {"height": None, "wheelchair_use": None}),
    ],
)
def test_what_a_source_leaves_out_is_filled_or_null(
    alice_api, alice_tenant, slug, filled
):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Asia/Kolkata")
    push(alice_api, user, slug, LEAST[slug])

    answer = alice_api.get(path(user, slug), {"start_date": "2026-01-01"}).json()

    key = SUMMARIES[slug].key
    found = answer if key is None else answer[key][0]
    assert {name: found[name] for name in filled} == filled
    assert found["source"] == SOURCE


def test_a_wheelchair_that_is_not_used_is_null(alice_api, user):
    push(alice_api, user, "profile", {"wheelchair_use": False})

    # The real client fails on false (contract 1.9).
    assert alice_api.get(path(user, "profile")).json()["wheelchair_use"] is None


def test_a_time_without_offset_is_of_the_users_zone(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, fallback_time_zone="America/New_York")
    push(
        alice_api,
        user,
        "workouts",
        {"time_start": "2026-02-28T20:00", "time_end": "2026-02-28T21:00:00"},
    )

    (workout,) = read(alice_api, user, "workouts")
    assert workout["time_start"] == "2026-03-01T01:00:00+00:00"
    assert workout["calendar_date"] == "2026-02-28"
    assert workout["timezone_offset"] == -18000


def test_a_time_that_the_users_zone_skips_is_refused(
    alice_api, alice_tenant, time_machine
):
    time_machine.move_to(datetime(2026, 4, 1, tzinfo=UTC), tick=False)
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")
    before = stored_rows(alice_tenant)

    reply = push(
        alice_api,
        user,
        "workouts",
        {"time_start": "2026-03-29T02:30:00", "time_end": "2026-03-29T05:00:00"},
    )

    assert error_lines(reply) == [(["body", "data", 0, "time_start"], "value_error")]
    assert stored_rows(alice_tenant) == before


def test_two_meals_of_one_moment_are_two(alice_api, user):
    meals = [{**LEAST["meal"], "name": name} for name in ("Porridge", "Tea")]

    assert push(alice_api, user, "meal", *meals).json()["created"] == 2


def test_a_food_is_whole_and_energy_is_in_kilocalories(alice_api, user):
    porridge = {**LEAST["meal"], "data": {"oats": {"brand": "Example"}}}
    refused = {**LEAST["meal"], "data": {"oats": None}}
    reply = push(alice_api, user, "meal", {**porridge, "energy": {"value": 410}})

    assert error_lines(push(alice_api, user, "meal", refused)) == [
        (["body", "data", 0, "data", "oats"], "value_error")
    ]
    answer = alice_api.get(path(user, "meal"), {"start_date": "2026-01-01"})
    (meal,) = answer.json()["meals"]
    assert reply.json()["created"] == 1
    assert meal["energy"] == {"unit": "kcal", "value": 410}
    assert meal["data"] == {
        "oats": {"brand": "Example", "energy": None, "macros": None, "micros": None}
    }


def test_a_profile_is_the_one_sent_last(alice_api, user, time_machine):
    push(alice_api, user, "profile", {"height": 170})
    time_machine.shift(60)
    push(alice_api, user, "profile", {"height": 171}, provider="fitbit")

    def height(**query):
        return alice_api.get(path(user, "profile"), query).json()["height"]

    assert (height(), height(provider="Oura")) == (171, 170)


def test_a_profile_that_is_not_there_is_not_found(alice_api, alice_tenant, user):
    record(user, "profile")
    before = stored_rows(alice_tenant)

    reply = alice_api.get(path(user, "profile"), {"provider": "fitbit"})

    assert reply.status_code == 404
    assert reply.json()["code"] == "summary_missing"
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("slug", sorted(set(SUMMARIES) - {"profile"}))
def test_a_user_without_summaries_has_an_empty_list(alice_api, user, slug):
    reply = alice_api.get(path(user, slug) + "/", {"start_date": "2026-01-01"})

    assert reply.status_code == 200
    assert reply.json() == {SUMMARIES[slug].key: []}


def test_summaries_come_by_start(alice_api, user):
    for start in ("2026-02-03", "2026-02-01", "2026-02-02"):
        push(alice_api, user, "menstrual_cycle", cycle_element(period_start=start))

    found = read(alice_api, user, "menstrual_cycle")

    starts = [each["period_start"] for each in found]
    assert starts == ["2026-02-01", "2026-02-02", "2026-02-03"]


@pytest.mark.parametrize(
    ("start", "end", "number"),
    [
        # The session ends on 1 March where it was slept, on 28 February in UTC terms
        # of its start.
        ("2026-03-01", "2026-03-01", 1),
        ("2026-02-28", "2026-02-28", 0),
        ("2026-03-02", "2026-03-02", 0),
        ("2026-03-01T23:00:00Z", "2026-03-01T00:00:00+02:00", 1),
        ("2026-03-01", None, 1),
        ("2026-03-09", None, 0),
    ],
)
def test_nights_are_found_by_the_day_of_waking(alice_api, user, start, end, number):
    record(user, "sleep_cycle")

    dates = {"start_date": start, **({"end_date": end} if end else {})}

    assert len(read(alice_api, user, "sleep_cycle", **dates)) == number


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Pacific/Kiritimati", "2026-03-01"), ("Pacific/Honolulu", "2026-02-28")],
)
def test_the_day_of_waking_is_that_of_the_sessions_zone(alice_api, user, zone, day):
    record(user, "sleep_cycle", night_element(time_zone=zone))

    assert read(alice_api, user, "sleep_cycle", start_date=day, end_date=day)


@pytest.mark.parametrize(
    ("fallback", "zone"), [("Asia/Kolkata", "Asia/Kolkata"), (None, "UTC")]
)
def test_a_session_without_zone_has_the_fallback(
    alice_api, alice_tenant, fallback, zone
):
    user = make_user(tenant=alice_tenant, fallback_time_zone=fallback)

    push(alice_api, user, "sleep_cycle", night_element(time_zone=None))

    (night,) = read(alice_api, user, "sleep_cycle")
    assert night["time_zone"] == zone
    # Bare times of a session are UTC wherever it was slept (D16).
    assert night["session_start"] == "2026-02-28T22:00:00"


def test_times_with_an_offset_become_utc(alice_api, user):
    push(
        alice_api,
        user,
        "sleep_cycle",
        night_element(
            session_start="2026-02-28T23:00:00+01:00",
            session_end="2026-03-01T00:00:00Z",
        ),
    )

    (night,) = read(alice_api, user, "sleep_cycle")
    assert night["session_start"] == "2026-02-28T22:00:00"
    assert night["session_end"] == "2026-03-01T00:00:00"


@pytest.mark.parametrize(
    ("start", "end", "number"),
    [
        ("2026-01-01", "2026-02-01", 0),
        ("2026-01-01", "2026-02-02", 1),
        ("2026-02-10", "2026-02-11", 1),
        ("2026-03-01", "2026-03-09", 1),
        ("2026-03-02", "2026-03-09", 0),
    ],
)
def test_cycles_are_found_by_any_of_their_days(alice_api, user, start, end, number):
    record(user, "menstrual_cycle")

    found = read(alice_api, user, "menstrual_cycle", start_date=start, end_date=end)

    assert len(found) == number


@pytest.mark.parametrize(
    ("provider", "number"),
    [("oura", 1), ("Oura", 1), ("fitbit", 0), ("nope", 0), ("", 1)],
)
def test_the_provider_filter_compares_the_source(alice_api, user, provider, number):
    record(user, "sleep_cycle")

    assert len(read(alice_api, user, "sleep_cycle", provider=provider)) == number


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ({}, (["query", "start_date"], "missing")),
        (
            {"start_date": ""},
            (["query", "start_date"], "date_from_datetime_parsing"),
        ),
        (
            {"start_date": "yesterday"},
            (["query", "start_date"], "date_from_datetime_parsing"),
        ),
        (
            {"start_date": "2026-02-30"},
            (["query", "start_date"], "date_from_datetime_parsing"),
        ),
        (
            {"start_date": "2026-02-02", "end_date": "2026-02-01"},
            (["query", "end_date"], "value_error"),
        ),
    ],
)
def test_a_range_that_is_none_is_refused(alice_api, alice_tenant, user, query, line):
    before = stored_rows(alice_tenant)

    reply = alice_api.get(path(user, "sleep_cycle"), query)

    assert error_lines(reply) == [line]
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_user_is_not_found_before_anything_is_read(alice_api, method):
    reply = getattr(alice_api, method)(f"/v2/summary/sleep_cycle/{uuid4()}")

    assert reply.status_code == 404


def test_a_malformed_user_id_is_refused_at_the_path(alice_api):
    reply = alice_api.get("/v2/summary/sleep_cycle/none")

    assert error_lines(reply) == [(["path", "user_id"], "uuid_parsing")]


def test_a_read_is_audited(alice_api, alice_tenant, user):
    read(alice_api, user, "menstrual_cycle")

    assert audited(alice_tenant)[-1] == ("read", "menstrual_cycle", str(user.uuid))


@pytest.mark.parametrize("number", [1, 2, 50])
def test_a_read_takes_the_same_statements_whatever_it_finds(alice_api, user, number):
    elements = [
        cycle_element(external_id=str(n), cycle_end="2026-02-28") for n in range(number)
    ]
    record(user, "menstrual_cycle", *elements)
    read(alice_api, user, "menstrual_cycle")  # the key is cached from here on

    with count_statements() as sent:
        found = read(alice_api, user, "menstrual_cycle")

    assert len(found) == number
    # The user, the summaries, the audit; naming the tenant passes the cursor by.
    assert len(sent) == 3


@pytest.mark.parametrize(
    ("batch", "lines"),
    [
        ({"provider": None}, [(["body", "provider"], "missing")]),
        ({"provider": "nope"}, [(["body", "provider"], "enum")]),
        ({"provider": 7}, [(["body", "provider"], "string_type")]),
        ({"source_type": "hat"}, [(["body", "source_type"], "enum")]),
        ({"device_id": "ring"}, [(["body", "device_id"], "uuid_parsing")]),
        ({"data": None}, [(["body", "data"], "missing")]),
        ({"data": {}}, [(["body", "data"], "value_error")]),
        ({"data": []}, [(["body", "data"], "value_error")]),
        ({"data": [{}] * 501}, [(["body", "data"], "value_error")]),
        ({"data": [7]}, [(["body", "data", 0], "value_error")]),
        (
            {"data": [night_element(), night_element(stage_type=[1])]},
            [(["body", "data", 1, "stage_type"], "value_error")],
        ),
        (
            {"data": [night_element(stage_type=[2, "deep", 9])]},
            [
                (["body", "data", 0, "stage_type", 1], "int_parsing"),
                (["body", "data", 0, "stage_type", 2], "enum"),
            ],
        ),
    ],
)
def test_a_bad_batch_is_refused_whole(alice_api, alice_tenant, user, batch, lines):
    before = stored_rows(alice_tenant)

    reply = push(alice_api, user, "sleep_cycle", night_element(), **batch)

    assert error_lines(reply) == lines
    assert stored_rows(alice_tenant) == before


def test_five_hundred_elements_are_taken(alice_api, user):
    elements = [cycle_element(external_id=str(n)) for n in range(500)]

    reply = push(alice_api, user, "menstrual_cycle", *elements)

    assert reply.json()["created"] == 500


def test_strangers_do_not_share_summaries(alice_api, charlie_api, charlie_tenant, user):
    record(user, "sleep_cycle")
    hers = make_user(tenant=charlie_tenant)

    assert read(charlie_api, hers, "sleep_cycle") == []
    assert (
        charlie_api.get(
            path(user, "sleep_cycle"), {"start_date": "2026-01-01"}
        ).status_code
        == 404
    )
