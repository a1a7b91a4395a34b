"""The certificate that nothing is missing: what it proves, and what it does not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.operations.pulling.test_worst_days import connected, run
from tests.users.operations.pulling.test_worst_weeks import sign_in
from users.analysis.completeness import prove_completeness
from users.gateways.withings.gateway import WithingsGateway
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.sources.announcements import record_announcement
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import mark_connection_failed
from users.states import ConnectionFault
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


@pytest.fixture
def scale(alice_tenant, withings, monkeypatch):
    """A scale with a weighing each second morning, its last twenty days read."""
    monkeypatch.setattr(WithingsGateway, "history", timedelta(days=20))
    return make_scale(alice_tenant, withings, days=24)


@pytest.fixture
def old_scale(alice_tenant, withings):
    """A scale with a weighing each second morning, its last half a year read."""
    return make_scale(alice_tenant, withings, days=200)


def make_scale(tenant, twin, days):
    connection = connected(tenant, twin)
    for day in range(0, days, 2):
        weigh(twin, NOON - timedelta(days=day, hours=5))
    refresh(connection)
    return connection


def weigh(twin, moment):
    twin.add_measures(int(moment.timestamp()), {1: (72_500, -3)})


def refresh(connection):
    schedule_cloud_source_refresh(connection=connection)
    return run(connection)


def weights(connection, first, last):
    (source,) = prove_completeness(
        user=connection.user,
        first=date.fromisoformat(first),
        last=date.fromisoformat(last),
    )
    (found,) = (each for each in source.resources if each.resource == "weight")
    return found


def states(connection, first, last):
    return [str(each.state) for each in weights(connection, first, last).days]


def test_half_a_year_is_proven_after_the_backfill(old_scale):
    (source,) = prove_completeness(
        user=old_scale.user, first=date(2025, 12, 8), last=date(2026, 3, 9)
    )

    for resource in source.resources:
        *past, today = [str(each.state) for each in resource.days]
        assert set(past) <= {"complete", "source_has_none"}
        assert today == "open"
    assert states(old_scale, "2026-03-05", "2026-03-09") == [
        *("complete", "source_has_none", "complete", "source_has_none", "open")
    ]
    assert source.is_read


def test_what_lies_before_the_backfill_was_not_read(scale):
    assert states(scale, "2026-02-14", "2026-02-19") == [
        *["not_read"] * 3,
        *("complete", "source_has_none", "complete"),
    ]


def test_a_list_of_four_weeks_proves_nothing_older_nor_what_fell_out_of_it(
    alice_tenant, polar, time_machine
):
    """A pause of forty days: what Polar no longer lists is no day without sleep."""
    watch = sign_in(alice_tenant, "polar", polar, make_user(tenant=alice_tenant))
    until_done(watch, time_machine)
    time_machine.move_to(NOON + timedelta(days=40), tick=False)
    schedule_cloud_source_refresh(connection=watch)
    until_done(watch, time_machine)

    (source,) = prove_completeness(
        user=watch.user, first=date(2026, 2, 1), last=date(2026, 4, 17)
    )

    by_day = {
        resource.resource: {each.day: str(each.state) for each in resource.days}
        for resource in source.resources
    }
    sleep = by_day["sleep"]
    assert {sleep[date(2026, 2, 1)], sleep[date(2026, 3, 20)]} == {"not_read"}
    assert {sleep[date(2026, 3, 25)], sleep[date(2026, 4, 17)]} == {"source_has_none"}
    # Days of activity are listed for a year.
    assert set(by_day["activity"].values()) == {"source_has_none"}


def until_done(connection, clock):
    while (wait := run(connection)) is not None:
        clock.shift(wait)


def test_a_day_is_open_until_devices_had_time_to_sync(scale, time_machine):
    time_machine.move_to(datetime(2026, 3, 10, 5, 59, tzinfo=UTC), tick=False)
    refresh(scale)
    before = states(scale, "2026-03-09", "2026-03-09")
    time_machine.move_to(datetime(2026, 3, 10, 6, 1, tzinfo=UTC), tick=False)
    between = weights(scale, "2026-03-09", "2026-03-09")
    time_machine.move_to(datetime(2026, 3, 10, 7, tzinfo=UTC), tick=False)
    refresh(scale)

    assert before == ["open"]
    assert [str(each.state) for each in between.days] == ["missing"]
    assert between.asked_again_at == datetime(2026, 3, 10, 6, 59, tzinfo=UTC)
    assert states(scale, "2026-03-09", "2026-03-09") == ["complete"]


def test_days_are_of_the_user_s_zone(scale):
    scale.user.fallback_time_zone = "Pacific/Auckland"
    scale.user.save(update_fields=["fallback_time_zone"])

    # There the 9th ended an hour before noon UTC, and closes at 17:00.
    assert states(scale, "2026-03-08", "2026-03-10") == [
        *("source_has_none", "open", "open")
    ]


def test_an_outage_is_a_hole_that_heals(scale, withings, time_machine):
    for hour in range(3 * 24):
        time_machine.shift(HOUR)
        weigh(withings, NOON + hour * HOUR)
    withings.faults.append(-503)
    refresh(scale)
    hole = weights(scale, "2026-03-09", "2026-03-11")
    time_machine.shift(timedelta(minutes=1))
    refresh(scale)

    assert [str(each.state) for each in hole.days] == ["missing"] * 3
    assert hole.error_type == "http_503"
    assert states(scale, "2026-03-09", "2026-03-11") == [
        *("complete", "filled_later", "complete")
    ]


def test_a_broken_connection_says_why_and_is_not_asked_again(scale, time_machine):
    mark_connection_failed(
        connection=scale, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    time_machine.shift(timedelta(days=2))

    found = weights(scale, "2026-03-09", "2026-03-10")

    assert [str(each.state) for each in found.days] == ["missing"] * 2
    assert (found.error_type, found.asked_again_at) == ("token_refresh_failed", None)


def test_what_is_announced_and_not_read_is_missing(scale, withings):
    withings.sender.send = lambda _method, _push: 204
    record_announcement(
        connection=scale,
        resources=["weight"],
        first=NOON - timedelta(days=4),
        last=NOON - timedelta(days=4),
        at=NOON,
    )
    before = weights(scale, "2026-03-04", "2026-03-06").days
    run(scale)

    assert [str(each.state) for each in before] == [
        *("source_has_none", "missing", "source_has_none")
    ]
    assert [each.announced_at for each in before] == [None, NOON, None]
    assert states(scale, "2026-03-05", "2026-03-05") == ["complete"]


def test_what_was_deleted_there_is_none(scale, withings):
    withings.measures = [
        each
        for each in withings.measures
        if each["date"] < int((NOON - timedelta(days=3)).timestamp())
    ]
    refresh(scale)

    found = weights(scale, "2026-03-07", "2026-03-07")
    assert [(str(each.state), each.number) for each in found.days] == [
        ("source_has_none", 0)
    ]


def test_a_source_that_only_pushes_proves_nothing(alice_tenant, scale):
    record_samples(
        user=scale.user,
        actor=ACTOR,
        resource=TIMESERIES["steps"],
        batch=SampleBatch(
            "apple_health_kit",
            [
                {
                    "start": "2026-03-07T10:00:00+00:00",
                    "end": "2026-03-07T11:00:00+00:00",
                    "value": 900,
                }
            ],
            "phone",
        ),
    )

    (source,) = prove_completeness(
        user=scale.user,
        first=date(2026, 3, 6),
        last=date(2026, 3, 8),
        provider="apple_health_kit",
    )

    assert not source.is_read
    ((resource, days),) = ((each.resource, each.days) for each in source.resources)
    assert resource == "steps"
    assert [str(each.state) for each in days] == ["not_read", "received", "not_read"]


def test_the_api_answers_with_the_proof_of_each_day(alice_api, charlie_api, scale):
    path = f"/v2/user/{scale.user.uuid}/completeness"

    reply = alice_api.get(f"{path}?start_date=2026-03-07&end_date=2026-03-08")

    body = reply.json()
    assert reply.status_code == 200
    assert {key: body[key] for key in ("time_zone", "start_date", "end_date")} == {
        "time_zone": "UTC",
        "start_date": "2026-03-07",
        "end_date": "2026-03-08",
    }
    weight = body["provider"]["withings"]["resources"]["weight"]
    assert [(each["state"], each["count"]) for each in weight["days"]] == [
        ("complete", 1),
        ("source_has_none", 0),
    ]
    assert (weight["asked_again_at"], weight["error_type"]) == (None, None)
    assert charlie_api.get(f"{path}?start_date=2026-03-07").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "start_date=2026-03-08&end_date=2026-03-07",
        "start_date=2025-12-07&end_date=2026-03-09",
        "end_date=2026-03-07",
        "start_date=soon",
    ],
)
def test_the_api_refuses_ranges_that_it_cannot_prove(alice_api, scale, query):
    reply = alice_api.get(f"/v2/user/{scale.user.uuid}/completeness?{query}")

    assert reply.status_code == 422
