"""What the user changes or deletes at a source is changed or deleted here."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from accounts.models import AuditEntry
from accounts.webhooks.models import Event
from tests.factories.accounts import ACTOR
from tests.users.operations.pulling.test_worst_days import connected, run
from users.gateways.withings.gateway import WithingsGateway
from users.models import SourceDay, Summary
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.pulls import schedule_source_pulls
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SINCE = "?start_date=2025-09-01&end_date=2026-03-10"


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


@pytest.fixture
def scale(alice_tenant, withings):
    """A scale with forty mornings, all read; `ids` are its weighings, newest first."""
    connection = connected(alice_tenant, withings)
    connection.ids = [
        withings.add_measures(seconds(morning(day)), {1: (72_000 + day, -3)})
        for day in range(40)
    ]
    schedule_cloud_source_refresh(connection=connection)
    run(connection)
    return connection


def seconds(moment):
    return int(moment.timestamp())


def morning(day):
    return NOON - timedelta(days=day, hours=5)


def refresh(connection):
    schedule_cloud_source_refresh(connection=connection)
    return run(connection)


def stored(api, connection):
    user = connection.user.uuid
    reply = api.get(f"/v2/timeseries/{user}/body_weight/grouped{SINCE}").json()
    return {
        each["timestamp"]: each["value"]
        for groups in reply["groups"].values()
        for group in groups
        for each in group["data"]
    }


def at_source(twin):
    return {
        datetime.fromtimestamp(each["date"], UTC).isoformat(): measure["value"] / 1000
        for each in twin.measures
        for measure in each["measures"]
    }


def bodies(tenant):
    found = Summary.objects.for_tenant(tenant).filter(kind="body")
    return dict(found.values_list("calendar_date", "body__weight"))


def removals(tenant):
    found = AuditEntry.objects.for_tenant(tenant).filter(verb="remove_source_data")
    return {each.subject: each.changes for each in found}


def test_an_edited_weight_is_changed_and_told_once(alice_tenant, withings, scale):
    withings.edit_measures(scale.ids[2], {1: (70_100, -3)})
    refresh(scale)
    refresh(scale)

    updated = Event.objects.for_tenant(alice_tenant).filter(
        event_type="daily.data.weight.updated"
    )
    assert updated.count() == 1
    assert bodies(alice_tenant)[date(2026, 3, 7)] == 70.1


def test_a_deleted_weight_is_deleted_with_the_body_of_its_day(
    alice_tenant, alice_api, withings, scale
):
    withings.delete_measures(scale.ids[2])
    withings.delete_measures(scale.ids[20])
    before = stored(alice_api, scale)
    refresh(scale)
    withings.sender.send = lambda _method, _push: 200

    assert len(before) == 40
    assert morning(2).isoformat() not in stored(alice_api, scale)
    assert date(2026, 3, 7) not in bodies(alice_tenant)
    assert removals(alice_tenant) == {
        "weight": {"removed": 1},
        "body": {"removed": 1},
    }
    # Once a day all of a month is read again.
    assert len(stored(alice_api, scale)) == 39


def test_after_a_day_a_month_of_edits_and_deletions_is_equal(
    alice_tenant, alice_api, withings, scale, time_machine
):
    for day in range(4, 28, 3):
        withings.delete_measures(scale.ids[day])
    for day in range(5, 28, 3):
        withings.edit_measures(scale.ids[day], {1: (65_000 + day, -3)})
    withings.add_measures(seconds(morning(15)) + 60, {1: (71_999, -3)})
    time_machine.shift(timedelta(days=1, seconds=1))

    refresh(scale)

    assert stored(alice_api, scale) == at_source(withings)
    # The later weighing of a day with two is that of its body.
    assert set(bodies(alice_tenant).values()) == {*at_source(withings).values()} - {
        72.015
    }
    kept = SourceDay.objects.for_tenant(alice_tenant).filter(resource="weight")
    assert sum(each.number for each in kept) == 40 - 8 + 1


def test_a_measure_that_moved_is_there_once(alice_api, withings, scale):
    (group,) = (each for each in withings.measures if each["grpid"] == scale.ids[2])
    group["date"] += 3600

    refresh(scale)

    assert stored(alice_api, scale) == at_source(withings)


def test_an_answer_that_is_cut_short_once_removes_nothing(
    alice_tenant, alice_api, withings, scale, monkeypatch
):
    honest, cuts = WithingsGateway.pull, [True]

    def pull(*given, **asked):
        if cuts:
            cuts.pop()
            kept, withings.measures = withings.measures, []
            pages = list(honest(*given, **asked))
            withings.measures = kept
            yield from pages
            return
        yield from honest(*given, **asked)

    monkeypatch.setattr(WithingsGateway, "pull", pull)
    schedule_source_pulls(
        connection=scale,
        resources=["weight"],
        is_history=False,
        range_start=NOON - timedelta(days=10),
        range_end=NOON,
    )
    run(scale)

    assert len(stored(alice_api, scale)) == 40
    assert removals(alice_tenant) == {}
    kept = SourceDay.objects.for_tenant(alice_tenant).filter(resource="weight")
    assert sum(each.number for each in kept) == 40


def test_what_others_pushed_under_the_same_source_stays(
    alice_tenant, alice_api, withings, scale
):
    pushed = (NOON - timedelta(days=2, hours=1)).isoformat()
    record_samples(
        user=scale.user,
        actor=ACTOR,
        resource=TIMESERIES["body_weight"],
        batch=SampleBatch("withings", [{"timestamp": pushed, "value": 72.2}], "scale"),
    )
    withings.delete_measures(scale.ids[2])

    refresh(scale)

    now = stored(alice_api, scale)
    assert pushed in now
    assert morning(2).isoformat() not in now


def test_a_night_that_moves_to_another_day_is_kept(alice_tenant, withings, scale):
    end = seconds(morning(2))
    withings.add_night(end - 28_000, end, "2026-03-07", total_sleep_time=26_000)
    refresh(scale)
    withings.nights[0]["date"] = "2026-03-08"
    refresh(scale)
    refresh(scale)

    nights = Summary.objects.for_tenant(alice_tenant).filter(kind="sleep")
    assert [each.body["total"] for each in nights] == [26_000]
    assert removals(alice_tenant) == {}


def read_ten_days(connection):
    schedule_source_pulls(
        connection=connection,
        resources=["body"],
        is_history=False,
        range_start=NOON - timedelta(days=10),
        range_end=NOON,
    )
    return run(connection)


def test_narrower_ingestion_bounds_remove_nothing(alice_tenant, scale):
    """Contract 2.3: changing bounds does not touch stored data."""
    scale.user.ingestion_start = date(2026, 3, 6)
    scale.user.save(update_fields=["ingestion_start"])

    read_ten_days(scale)

    assert len(bodies(alice_tenant)) == 40
    assert removals(alice_tenant) == {}


def test_an_edit_that_is_not_valid_removes_nothing(alice_tenant, withings, scale):
    withings.edit_measures(scale.ids[2], {1: (9_000_000, -3)})
    withings.delete_measures(scale.ids[3])

    read_ten_days(scale)
    kept = bodies(alice_tenant)
    withings.edit_measures(scale.ids[2], {1: (71_000, -3)})
    read_ten_days(scale)

    assert len(kept) == 40
    assert kept[date(2026, 3, 7)] == 72.002
    # With an answer that is understood, what was deleted goes.
    assert removals(alice_tenant) == {"body": {"removed": 1}}
    assert date(2026, 3, 6) not in bodies(alice_tenant)
