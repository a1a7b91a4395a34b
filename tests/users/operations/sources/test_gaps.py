"""Gaps of a source: each opens with one event and closes with one."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection as database
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.models import Event
from tests.factories.accounts import ACTOR
from tests.jobs import queued
from tests.users.operations.pulling.test_worst_days import Killed, connected, run
from users import jobs
from users.models import Connection, SourceGap
from users.operations.sources import gaps
from users.operations.sources.announcements import record_announcement
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.gaps import enqueue_due_gap_checks, update_source_gaps
from users.operations.sources.pausing import pause_source
from users.operations.sources.sources import connect_source, disconnect_source
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
# The 9th closes at 06:00 of the 10th and is a gap from noon on.
GAP = NOON + timedelta(days=1)


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


@pytest.fixture
def scale(alice_tenant, withings):
    """A connected scale that was read at noon of the 9th."""
    connection = connected(alice_tenant, withings)
    withings.add_measures(int((NOON - HOUR).timestamp()), {1: (72_500, -3)})
    refresh(connection)
    return connection


def refresh(connection):
    connection.refresh_from_db()
    schedule_cloud_source_refresh(connection=connection)
    return run(connection)


def fail(connection):
    mark_connection_failed(
        connection=connection, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )


def told(tenant):
    """What the events said of weights, in sequence; each matches its schema."""
    found = []
    mine = Event.objects.for_tenant(tenant).order_by("id")
    for event in mine.filter(event_type__startswith="provider.gap."):
        data = json.loads(event.body)["data"]
        validate(data, load_event_types()[event.event_type].schema)
        all_days = [tuple(each.values()) for each in data["days"]]
        assert len(set(all_days)) == len(all_days)
        weights = [each for each in all_days if each[0] == "weight"]
        found.append((event.event_type.rpartition(".")[2], weights))
    return found


def days(tenant):
    mine = SourceGap.objects.for_tenant(tenant).filter(resource="weight")
    return list(mine.values_list("resource", "day"))


OPENED = ("opened", [("weight", "2026-03-09", "missing", "token_refresh_failed")])


def test_a_day_that_nobody_reads_opens_once_and_closes_once(
    alice_tenant, scale, time_machine
):
    fail(scale)
    time_machine.move_to(GAP - timedelta(seconds=1), tick=False)
    update_source_gaps(connection=scale)
    early = told(alice_tenant)
    time_machine.move_to(GAP, tick=False)
    for _again in range(2):
        update_source_gaps(connection=scale)
    opened, stored = told(alice_tenant), days(alice_tenant)

    connect_source(user=scale.user, actor=ACTOR, provider="withings")
    refresh(scale)
    update_source_gaps(connection=scale)

    assert early == []
    assert opened == [OPENED]
    assert stored == [("weight", date(2026, 3, 9))]
    assert told(alice_tenant) == [
        OPENED,
        ("closed", [("weight", "2026-03-09", "complete", None)]),
    ]
    assert days(alice_tenant) == []


def test_each_day_is_told_when_it_becomes_a_gap_and_all_close_at_once(
    alice_tenant, scale, time_machine
):
    fail(scale)
    for number in range(1, 4):
        time_machine.move_to(NOON + timedelta(days=number), tick=False)
        update_source_gaps(connection=scale)
    connect_source(user=scale.user, actor=ACTOR, provider="withings")
    refresh(scale)

    assert [(how, [each[1] for each in days]) for how, days in told(alice_tenant)] == [
        ("opened", ["2026-03-09"]),
        ("opened", ["2026-03-10"]),
        ("opened", ["2026-03-11"]),
        ("closed", ["2026-03-09", "2026-03-10", "2026-03-11"]),
    ]


@pytest.mark.parametrize("when", ["opening", "closing"])
def test_a_worker_killed_between_row_and_event_leaves_neither(
    alice_tenant, scale, time_machine, monkeypatch, when
):
    fail(scale)
    time_machine.move_to(GAP, tick=False)
    if when == "closing":
        update_source_gaps(connection=scale)
        connect_source(user=scale.user, actor=ACTOR, provider="withings")
        schedule_cloud_source_refresh(connection=Connection.unscoped.get(pk=scale.pk))

    def die(**_given):
        raise Killed

    def work():
        if when == "closing":
            return run(scale)
        return update_source_gaps(connection=scale)

    with monkeypatch.context() as dying:
        dying.setattr(gaps, "emit_event", die)
        with pytest.raises(Killed):
            work()
    between = (days(alice_tenant), len(told(alice_tenant)))
    # The job runs again: where its pulls have ended, the gap is still checked.
    work()
    work()

    assert between == (
        ([("weight", date(2026, 3, 9))], 1) if when == "closing" else ([], 0)
    )
    assert [how for how, _days in told(alice_tenant)] == (
        ["opened", "closed"] if when == "closing" else ["opened"]
    )


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_race_send_each_event_once(alice_tenant, scale, time_machine):
    fail(scale)
    time_machine.move_to(GAP, tick=False)

    race(scale)
    opened = told(alice_tenant)
    # As after a worker that died before it had closed them.
    connect_source(user=scale.user, actor=ACTOR, provider="withings")
    scale.refresh_from_db()
    schedule_cloud_source_refresh(connection=scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "users.operations.pulling.pulling.close_filled_source_gaps",
            lambda *, connection: None,
        )
        run(scale)
    race(scale)

    assert opened == [OPENED]
    assert [how for how, _days in told(alice_tenant)] == ["opened", "closed"]
    assert days(alice_tenant) == []


def race(connection):
    barrier = Barrier(4)

    def check(_number):
        try:
            barrier.wait(timeout=10)
            update_source_gaps(connection=Connection.unscoped.get(pk=connection.pk))
        finally:
            database.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, range(4)))


def test_a_source_that_is_being_read_opens_nothing_for_a_while(
    alice_tenant, scale, time_machine
):
    time_machine.move_to(GAP, tick=False)
    schedule_cloud_source_refresh(connection=scale)
    update_source_gaps(connection=scale)
    during = told(alice_tenant)
    time_machine.shift(6 * HOUR)
    update_source_gaps(connection=scale)

    assert during == []
    assert told(alice_tenant) == [
        ("opened", [("weight", "2026-03-09", "missing", None)])
    ]


def test_a_change_that_was_announced_and_is_not_read_is_a_gap(
    alice_tenant, scale, time_machine
):
    time_machine.move_to(GAP, tick=False)
    refresh(scale)
    record_announcement(
        connection=scale,
        resources=["weight"],
        first=NOON,
        last=NOON,
        at=GAP,
    )
    update_source_gaps(connection=scale)
    early = told(alice_tenant)
    time_machine.shift(6 * HOUR)
    update_source_gaps(connection=scale)
    run(scale)

    assert early == []
    assert told(alice_tenant) == [
        ("opened", [("weight", "2026-03-09", "missing", None)]),
        ("closed", [("weight", "2026-03-09", "complete", None)]),
    ]


def test_a_paused_source_opens_none(alice_tenant, scale, time_machine):
    pause_source(user=scale.user, actor=ACTOR, provider="withings")
    time_machine.move_to(GAP + timedelta(days=3), tick=False)

    update_source_gaps(connection=scale)

    assert enqueue_due_gap_checks() == 0
    assert (told(alice_tenant), days(alice_tenant)) == ([], [])


def test_disconnecting_closes_what_nobody_reads_any_more(
    alice_tenant, scale, time_machine
):
    fail(scale)
    time_machine.move_to(GAP, tick=False)
    update_source_gaps(connection=scale)

    disconnect_source(user=scale.user, actor=ACTOR, provider="withings")

    assert told(alice_tenant)[1:] == [
        ("closed", [("weight", "2026-03-09", "not_read", None)])
    ]
    assert days(alice_tenant) == []


def test_the_sweep_checks_each_source_each_three_hours(
    alice_tenant, charlie_tenant, scale, time_machine
):
    fail(scale)
    time_machine.move_to(GAP, tick=False)
    for _twice in range(2):
        jobs.schedule_due_source_pulls_and_gap_checks()
    asked = [job for job in queued() if job.name == gaps.GAP_JOB]
    jobs.check_source_gaps(tenant_pk=charlie_tenant.pk)
    of_others = told(alice_tenant)
    jobs.check_source_gaps(tenant_pk=alice_tenant.pk)

    assert len(asked) == 2
    assert of_others == []
    assert told(alice_tenant) == [OPENED]
    assert enqueue_due_gap_checks() == 0
    time_machine.shift(3 * HOUR)
    assert enqueue_due_gap_checks() == 1
