from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.statements import count_statements
from users.operations.users.users import UserChanges, update_user

pytestmark = pytest.mark.django_db
PATH = "/v2/aggregate/{user_id}/{resource}"
DAY = {"start_date": "2026-02-10", "end_date": "2026-02-10"}


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def get(api, user, resource="steps", **query):
    return api.get(PATH.format(user_id=user.uuid, resource=resource), {**DAY, **query})


def watch_and_phone(user):
    put_samples(
        user,
        "steps",
        ("2026-02-10T08:00", 60, 100),
        provider="fitbit",
        source_type="watch",
    )
    put_samples(
        user,
        "steps",
        *(("2026-02-10T08:30", 60, 400), ("2026-02-10T23:30", 15, 7)),
        provider="apple_health_kit",
        source_type="phone",
    )


def test_a_day_is_added_up_and_explained(alice_api, alice_tenant, user):
    watch_and_phone(user)

    reply = get(alice_api, user, rule="MERGE", include="ledger")

    assert reply.status_code == 200
    check_answer(reply, "get", PATH)
    watch = {"provider": "fitbit", "type": "watch"}
    phone = {"provider": "apple_health_kit", "type": "phone"}
    assert reply.json() == {
        "unit": "count",
        "period": "day",
        "time_zone": "UTC",
        "rule": "merge",
        "data": [
            {
                "start": "2026-02-10T00:00:00+00:00",
                "end": "2026-02-11T00:00:00+00:00",
                "type": None,
                "min": 7,
                "max": 100,
                "mean": 53.5,
                "sum": 307,
                "count": 2,
                "provider": None,
                "sources": [
                    {**watch, "count": 1, "sum": 100, "counted": 100},
                    {**phone, "count": 1, "sum": 407, "counted": 207},
                ],
                "ledger": [
                    {
                        "start": "2026-02-10T08:00:00+00:00",
                        "end": "2026-02-10T09:00:00+00:00",
                        **watch,
                        "value": 100,
                        "others": [{**phone, "value": 200}],
                    },
                    {
                        "start": "2026-02-10T09:00:00+00:00",
                        "end": "2026-02-10T09:30:00+00:00",
                        **phone,
                        "value": 200,
                        "others": [],
                    },
                    {
                        "start": "2026-02-10T23:30:00+00:00",
                        "end": "2026-02-10T23:45:00+00:00",
                        **phone,
                        "value": 7,
                        "others": [],
                    },
                ],
            }
        ],
    }
    assert audited(alice_tenant)[-1] == ("read", "steps", str(user.uuid))


def test_what_does_not_add_up_has_a_mean_and_no_sum(alice_api, user):
    put_samples(
        user, "body_weight", ("2026-02-10T07:00", 0, 70), ("2026-02-10T19:00", 0, 71)
    )

    reply = get(alice_api, user, "body_weight")

    check_answer(reply, "get", PATH)
    (bucket,) = reply.json()["data"]
    assert reply.json()["rule"] is None
    assert (bucket["mean"], bucket["sum"], bucket["provider"]) == (70.5, None, "oura")
    assert bucket["sources"] == [
        {
            "provider": "oura",
            "type": "unknown",
            "count": 2,
            "sum": None,
            "counted": None,
        }
    ]
    assert bucket["ledger"] is None


def test_a_ranking_decides_who_is_believed(alice_api, user):
    watch_and_phone(user)

    def total(**query):
        return get(alice_api, user, **query).json()["data"][0]["sum"]

    assert total() == 100 + 200 + 7
    assert total(priority=["apple_health_kit", "fitbit"]) == 200 + 200 + 7
    assert total(rule="max") == 200 + 200 + 7
    assert total(provider="FITBIT") == 100


def test_days_are_those_of_the_fallback_zone_unless_another_is_asked_for(
    alice_api, user
):
    watch_and_phone(user)
    changes = UserChanges(fallback_time_zone="Europe/Berlin")
    update_user(user=user, actor=ACTOR, changes=changes)

    fallback = get(alice_api, user).json()
    utc = get(alice_api, user, time_zone="UTC").json()

    assert (fallback["time_zone"], utc["time_zone"]) == ("Europe/Berlin", "UTC")
    assert fallback["data"][0]["start"] == "2026-02-09T23:00:00+00:00"
    assert fallback["data"][0]["sum"] == 300
    assert utc["data"][0]["sum"] == 307


def test_a_sample_without_offset_counts_on_its_day_of_the_fallback_zone(
    alice_api, alice_tenant
):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")
    sample = {"start": "2026-02-10T00:30:00", "end": "2026-02-10T00:45:00", "value": 10}

    pushed = alice_api.post(
        f"/v2/timeseries/{user.uuid}/steps", {"provider": "oura", "data": [sample]}
    )
    local = get(alice_api, user).json()["data"]
    utc = get(alice_api, user, start_date="2026-02-09", time_zone="UTC").json()["data"]

    assert pushed.json()["created"] == 1
    assert [each["sum"] for each in local] == [10]
    assert [each["sum"] for each in utc] == [10, None]


def test_without_an_end_it_is_until_today_in_the_zone(alice_api, user, time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 23, 30, tzinfo=UTC), tick=False)
    query = {"start_date": "2026-02-28", "time_zone": "Europe/Berlin"}

    reply = alice_api.get(PATH.format(user_id=user.uuid, resource="steps"), query)

    assert [each["start"][:10] for each in reply.json()["data"]] == [
        *("2026-02-27", "2026-02-28", "2026-03-01")
    ]


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ({"start_date": ""}, ("start_date", "date_from_datetime_parsing")),
        ({"start_date": "1899-12-31"}, ("start_date", "greater_than_equal")),
        ({"start_date": "9999-12-31"}, ("end_date", "less_than_equal")),
        ({"end_date": "2026-02-09"}, ("end_date", "value_error")),
        ({"end_date": "2027-03-03"}, ("end_date", "less_than_equal")),
        ({"end_date": "2027-03-02"}, ("end_date", "value_error")),
        ({"period": "month"}, ("period", "enum")),
        ({"rule": "min"}, ("rule", "enum")),
        ({"time_zone": "Europe/Bern"}, ("time_zone", "value_error")),
    ],
    ids=str,
)
def test_what_cannot_be_added_up_is_422(alice_api, user, query, line):
    name, kind = line

    reply = get(alice_api, user, **query)

    assert error_lines(reply) == [(["query", name], kind)]


def test_a_start_is_needed(alice_api, user):
    reply = alice_api.get(PATH.format(user_id=user.uuid, resource="steps"))

    assert error_lines(reply) == [(["query", "start_date"], "missing")]


def test_an_unknown_user_or_resource_is_404(alice_api, user):
    nobody = alice_api.get(PATH.format(user_id=uuid4(), resource="steps"), DAY)
    nothing = get(alice_api, user, "stairs")

    assert (nobody.status_code, nobody.json()["code"]) == (404, "not_found")
    assert (nothing.status_code, nothing.json()["code"]) == (404, "resource_unknown")


def test_the_statements_are_five_for_a_day_and_for_a_year(alice_api, user):
    watch_and_phone(user)
    get(alice_api, user)

    counted = []
    for query in ({}, {"start_date": "2025-03-01"}, {"period": "hour"}):
        with count_statements() as sent:
            get(alice_api, user, **query)
        counted.append(len([each for each in sent if "assay.tenant" not in each]))

    # The user, its ranking, the sums, the words of the feeds, the line of audit.
    assert counted == [5, 5, 5]
