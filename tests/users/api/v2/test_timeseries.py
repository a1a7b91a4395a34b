from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import orjson
import pytest
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.api.pagination import encode_page_cursor
from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.timeseries import (
    MOST,
    WORKOUT,
    minute,
    push_samples,
    sample,
)
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.statements import count_statements
from tests.users.holdings import stored_rows
from users.api.v2.inputs import SAMPLE_PAGE_MAX, SAMPLE_PAGE_SIZE
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEVICE = "0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111"
PUSHED = "/v2/timeseries/{user_id}/{resource}"
GROUPED = f"{PUSHED}/grouped"
NOTHING = {"groups": {}, "next_cursor": None, "next": None}


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def path(user, slug):
    return PUSHED.format(user_id=user.uuid, resource=slug)


def push(api, user, slug, *samples, **batch):
    body = {"provider": "oura", "data": list(samples), **batch}
    return api.post(path(user, slug), body)


def read(api, user, slug, **query):
    reply = api.get(
        f"{path(user, slug)}/grouped", {"start_date": "2026-01-01", **query}
    )
    assert reply.status_code == 200, reply.content
    return reply.json()


def values(answer):
    """The values of an answer by provider, group by group."""
    return {
        provider: [[each["value"] for each in group["data"]] for group in groups]
        for provider, groups in answer["groups"].items()
    }


@pytest.mark.parametrize("slug", sorted(TIMESERIES))
def test_each_resource_is_pushed_read_and_told(alice_api, alice_tenant, user, slug):
    resource = TIMESERIES[slug]
    sent = sample(slug, unit=resource.unit, **MOST.get(slug, {}))

    pushed = push(alice_api, user, slug, sent, source_type="app")

    reply = alice_api.get(f"{path(user, slug)}/grouped", {"start_date": "2026-02-28"})
    ((group,),) = reply.json()["groups"].values()
    event = emitted(alice_tenant)[-1]
    expected = {
        "timestamp": "2026-02-28T10:00:00+00:00",
        "timezone_offset": 0,
        "type": None,
        **{field.name: field.default for field in resource.extras},
        **sent,
    }
    if slug == "blood_pressure":
        expected["value"] = expected["systolic"]
    source = {name: expected.pop(name, None) for name in ("workout_id", "sport")}
    assert pushed.status_code == 200
    assert pushed.json() == {"success": True, "created": 1, "updated": 0, "dropped": 0}
    assert group["data"] == event["data"]["data"] == [expected]
    assert group["source"] == {
        "provider": "oura",
        "type": "app",
        "app_id": None,
        "device_id": None,
        **source,
    }
    assert event["event_type"] == f"daily.data.{resource.event_resource}.created"
    validate(event["data"], load_event_types()[event["event_type"]].schema)
    check_answer(pushed, "post", PUSHED)
    check_answer(reply, "get", GROUPED)


def test_a_whole_value_stays_whole(alice_api, user):
    push(alice_api, user, "heart_rate_alert", sample("heart_rate_alert", value=2.0))

    reply = alice_api.get(
        f"{path(user, 'heart_rate_alert')}/grouped", {"start_date": "2026-02-28"}
    )

    assert b'"value":2,' in reply.content


def test_nothing_is_an_empty_answer(alice_api, user):
    push_samples(user, "ige")

    assert read(alice_api, user, "heartrate") == NOTHING
    assert read(alice_api, user, "igg") == NOTHING
    assert read(alice_api, user, "ige", provider="fitbit") == NOTHING
    assert read(alice_api, user, "ige", provider="nobody") == NOTHING


def test_sources_make_groups_and_providers_are_filtered(alice_api, user):
    slug = "workout_duration"
    long, short = {"value": 30}, {"value": 5, "start": minute(-9)}
    push(alice_api, user, slug, sample(slug, **long, workout_id=WORKOUT))
    push(alice_api, user, slug, sample(slug, **short), source_type="ring")
    push(alice_api, user, slug, sample(slug), provider="fitbit", app_id="a.b")
    push(alice_api, user, slug, sample(slug, start=minute(5)), device_id=DEVICE)

    answer = read(alice_api, user, slug)

    assert values(answer) == {"oura": [[5], [30], [12.5]], "fitbit": [[12.5]]}
    items = [group["source"] for group in answer["groups"]["oura"]]
    assert [each["type"] for each in items] == ["ring", "unknown", "unknown"]
    assert [each["workout_id"] for each in items] == [None, WORKOUT, None]
    assert [each["device_id"] for each in items] == [None, None, DEVICE]
    assert answer["groups"]["fitbit"][0]["source"]["app_id"] == "a.b"
    assert values(read(alice_api, user, slug, provider="Fitbit")) == {
        "fitbit": [[12.5]]
    }


def test_types_of_one_source_are_one_group_by_time(alice_api, user):
    kinds = ["hdl", "ldl", "total"]
    samples = [
        sample("cholesterol", type=kind, value=place, timestamp=minute(place // 2))
        for place, kind in enumerate(kinds)
    ]
    push(alice_api, user, "cholesterol", *samples)

    (group,) = read(alice_api, user, "cholesterol")["groups"]["oura"]

    found = [(each["type"], each["value"]) for each in group["data"]]
    assert found == [("ldl", 1), ("hdl", 0), ("total", 2)]


def test_a_type_is_kept_where_none_is_needed(alice_api, alice_tenant, user):
    push(
        alice_api,
        user,
        "glucose",
        sample("glucose", type="automatic", timestamp=minute(0)),
        sample("glucose", type="", timestamp=minute(1)),
        sample("glucose", timestamp=minute(2)),
    )

    (group,) = read(alice_api, user, "glucose")["groups"]["oura"]

    assert [each["type"] for each in group["data"]] == ["automatic", None, None]
    event = emitted(alice_tenant)[-1]
    assert [each["type"] for each in event["data"]["data"]] == ["automatic", None, None]
    again = sample("glucose", type="manual_scan", timestamp=minute(0))
    push(alice_api, user, "glucose", again)
    (group,) = read(alice_api, user, "glucose")["groups"]["oura"]
    assert [each["type"] for each in group["data"]] == ["manual_scan", None, None]


def test_pages_hold_every_sample_once(alice_api, user):
    beats = [
        sample("heartrate", timestamp=minute(each), value=each) for each in range(5)
    ]
    push(alice_api, user, "heartrate", *beats)
    push(alice_api, user, "heartrate", *beats, provider="fitbit")

    pages, cursor = [], {}
    for name in ("next_cursor", "cursor", "next_cursor", "cursor"):
        pages.append(read(alice_api, user, "heartrate", limit=3, **cursor))
        cursor = {name: pages[-1]["next_cursor"]}

    assert [page["next"] for page in pages] == [page["next_cursor"] for page in pages]
    assert [values(page) for page in pages] == [
        {"oura": [[0, 1]], "fitbit": [[0]]},
        {"fitbit": [[1, 2]], "oura": [[2]]},
        {"oura": [[3, 4]], "fitbit": [[3]]},
        {"fitbit": [[4]]},
    ]
    assert pages[-1]["next_cursor"] is None


def test_a_page_has_a_thousand_samples_unless_asked_otherwise(alice_api, user):
    beats = [
        sample(
            "heartrate", timestamp=f"2026-02-28T1{hour}:{each // 60:02}:{each % 60:02}Z"
        )
        for hour in range(1)
        for each in range(SAMPLE_PAGE_SIZE + 1)
    ]
    push(alice_api, user, "heartrate", *beats)

    first = read(alice_api, user, "heartrate")
    rest = read(alice_api, user, "heartrate", cursor=first["next"])
    whole = read(alice_api, user, "heartrate", limit=SAMPLE_PAGE_MAX)

    assert len(values(first)["oura"][0]) == SAMPLE_PAGE_SIZE
    assert len(values(rest)["oura"][0]) == 1
    assert len(values(whole)["oura"][0]) == SAMPLE_PAGE_SIZE + 1
    assert whole["next_cursor"] is rest["next_cursor"] is None


RANGES = {
    # Of minutes 0 to 4 after ten UTC, eleven in Berlin.
    "a-day": ({"start_date": "2026-02-28", "end_date": "2026-02-28"}, [0, 1, 2, 3, 4]),
    "the-day-before": ({"start_date": "2026-02-27", "end_date": "2026-02-27"}, []),
    "both-ends-are-in": (
        {"start_date": minute(1), "end_date": "2026-02-28T11:03:00+01:00"},
        [1, 2, 3],
    ),
    "a-wall-clock-in-berlin": (
        {"start_date": "2026-02-28T11:02:00", "end_date": "2026-02-28T11:03:00"},
        [2, 3],
    ),
    "until-now": ({"start_date": minute(4)}, [4]),
    "all-time": (
        {"start_date": "0001-01-02", "end_date": "9999-12-30"},
        [0, 1, 2, 3, 4],
    ),
}


@pytest.mark.parametrize("case", RANGES)
def test_samples_are_found_by_both_ends_of_a_time(alice_api, alice_tenant, case):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")
    query, expected = RANGES[case]
    push(
        alice_api,
        user,
        "heartrate",
        *[sample("heartrate", timestamp=minute(each), value=each) for each in range(5)],
    )

    found = values(read(alice_api, user, "heartrate", **query))

    assert found == ({"oura": [expected]} if expected else {})


def test_a_day_is_one_of_the_fallback_time_zone(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Asia/Tokyo")
    evening = ["2026-02-27T14:59:59Z", "2026-02-27T15:00:00Z", "2026-02-28T14:59:59Z"]
    push(
        alice_api,
        user,
        "heartrate",
        *[
            sample("heartrate", timestamp=text, value=place)
            for place, text in enumerate([*evening, "2026-02-28T15:00:00Z"])
        ],
    )

    day = read(
        alice_api, user, "heartrate", start_date="2026-02-28", end_date="2026-02-28"
    )

    assert values(day) == {"oura": [[1, 2]]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"start_date": None}, [(["query", "start_date"], "missing")]),
        ({"start_date": "28.2.2026"}, [(["query", "start_date"], "datetime_parsing")]),
        ({"start_date": "2026-02-30"}, [(["query", "start_date"], "datetime_parsing")]),
        (
            {"start_date": "2026-02-28T25:00:00Z"},
            [(["query", "start_date"], "datetime_parsing")],
        ),
        (
            {"start_date": "2025-03-30T02:30:00"},
            [(["query", "start_date"], "value_error")],
        ),
        ({"end_date": "2025-12-31"}, [(["query", "end_date"], "value_error")]),
        ({"end_date": "9999-12-31"}, [(["query", "end_date"], "value_error")]),
        ({"limit": "0"}, [(["query", "limit"], "greater_than_equal")]),
        (
            {"limit": str(SAMPLE_PAGE_MAX + 1)},
            [(["query", "limit"], "less_than_equal")],
        ),
        *(
            ({"next_cursor": cursor}, [(["query", "next_cursor"], "value_error")])
            for cursor in (
                "x",
                encode_page_cursor(["1", "2"]),
                encode_page_cursor(["1", "2", "x"]),
                encode_page_cursor(["1", "2", "40000"]),
                encode_page_cursor(["9" * 30, "2", "3"]),
                encode_page_cursor(["-9999999999999999", "2", "3"]),
            )
        ),
    ],
    ids=str,
)
def test_a_question_that_can_not_be_is_refused(
    alice_api, alice_tenant, query, expected
):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")
    before = stored_rows(alice_tenant)
    fields = {"start_date": "2026-01-01", **query}

    reply = alice_api.get(
        f"{path(user, 'heartrate')}/grouped",
        {name: each for name, each in fields.items() if each is not None},
    )

    assert error_lines(reply) == expected
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ({"provider": None}, [(["body", "provider"], "missing")]),
        ({"provider": "nobody"}, [(["body", "provider"], "enum")]),
        ({"source_type": "spoon"}, [(["body", "source_type"], "enum")]),
        ({"device_id": "7"}, [(["body", "device_id"], "uuid_parsing")]),
        ({"workout_id": "7"}, [(["body", "workout_id"], "uuid_parsing")]),
        ({"data": None}, [(["body", "data"], "missing")]),
        ({"data": {}}, [(["body", "data"], "value_error")]),
        ({"data": []}, [(["body", "data"], "value_error")]),
        (
            {"data": [sample("heartrate"), {"value": 61}]},
            [(["body", "data", 1, "timestamp"], "missing")],
        ),
    ],
    ids=str,
)
def test_a_batch_that_can_not_be_is_refused_whole(
    alice_api, alice_tenant, user, batch, expected
):
    before = stored_rows(alice_tenant)

    reply = push(
        alice_api, user, "heartrate", **{"data": [sample("heartrate")], **batch}
    )

    assert error_lines(reply) == expected
    assert stored_rows(alice_tenant) == before


def test_numbers_json_does_not_have_are_refused(alice_api, alice_tenant, user):
    before = stored_rows(alice_tenant)
    replies = [
        alice_api.post(
            path(user, "heartrate"),
            orjson.dumps(
                {"provider": "oura", "data": [sample("heartrate", value=0.125)]}
            ).replace(b"0.125", number),
            "application/json",
        )
        for number in (b"NaN", b"Infinity", b"1e999")
    ]

    assert [error_lines(reply) for reply in replies] == 3 * [
        [(["body"], "json_invalid")]
    ]
    assert stored_rows(alice_tenant) == before


def test_an_unknown_resource_is_not_there(alice_api, alice_tenant, user):
    before = stored_rows(alice_tenant)

    pushed = push(alice_api, user, "hypnogram", sample("heartrate"))
    asked = alice_api.get(
        f"{path(user, 'hypnogram')}/grouped", {"start_date": "2026-01-01"}
    )

    for reply in (pushed, asked):
        assert reply.status_code == 404
        assert reply.json()["code"] == "resource_unknown"
    check_answer(pushed, "post", PUSHED)
    assert stored_rows(alice_tenant) == before


def test_a_team_has_so_many_types_of_its_own(
    alice_api, alice_tenant, user, monkeypatch
):
    monkeypatch.setattr("users.store.dictionaries.OPEN_TYPES_MAX", 1)
    before = stored_rows(alice_tenant)

    reply = push(
        alice_api,
        user,
        "ige",
        sample("ige"),
        sample("ige", timestamp=minute(1), type="Cat"),
    )

    assert reply.status_code == 400
    assert reply.json()["code"] == "too_many_types"
    check_answer(reply, "post", PUSHED)
    assert stored_rows(alice_tenant) == before


def test_nobodys_samples_are_not_there(alice_api, charlie_api, user):
    push_samples(user, "heartrate")
    place = f"{path(user, 'heartrate')}/grouped"

    replies = [
        charlie_api.get(place, {"start_date": "2026-01-01"}),
        alice_api.get(place.replace(str(user.uuid), str(uuid4()))),
        push(charlie_api, user, "heartrate", sample("heartrate")),
    ]

    assert [reply.status_code for reply in replies] == [404, 404, 404]


def test_a_read_is_audited(alice_api, alice_tenant, user):
    push_samples(user, "body_weight")

    read(alice_api, user, "body_weight")

    assert audited(alice_tenant)[-1] == ("read", "weight", str(user.uuid))


@pytest.mark.parametrize("number", [1, 400])
def test_a_page_costs_the_same_statements_however_full(alice_api, user, number):
    samples = [
        sample("heartrate", timestamp=minute(each), value=each % 100)
        for each in range(number)
    ]
    push_samples(user, "heartrate", *samples, device_id=DEVICE)
    push_samples(user, "heartrate", *samples, provider="fitbit")

    with count_statements() as sent:
        read(alice_api, user, "heartrate")

    assert len(sent) == 10
