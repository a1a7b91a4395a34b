from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.users.holdings import stored_rows
from users.models import ConnectionEntry, Pull, Supply
from users.operations.sources.pulls import (
    delete_old_pulls,
    end_data_pull,
    postpone_data_pull,
    record_completed_backfill,
    start_data_pull,
    store_pull_position,
)
from users.operations.sources.sources import connect_source, disconnect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
START = NOON - timedelta(days=30)


@pytest.fixture
def connection(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(tenant=alice_tenant)
    return connect_source(user=user, actor=ACTOR, provider="oura")


def pull_of(connection, *, is_history=True):
    pull = Pull(
        tenant=connection.tenant,
        connection=connection,
        user=connection.user,
        provider="oura",
        resource="heartrate",
        is_history=is_history,
        range_start=START,
        range_end=NOON,
    )
    pull.save(force_insert=True)
    return pull


def test_a_backfill_that_ends_well_tells_that_the_past_is_here(
    connection, alice_tenant
):
    pull = pull_of(connection)
    start_data_pull(pull=pull)

    end_data_pull(pull=pull, actor=ACTOR, days_with_data=28)

    stored = Pull.objects.for_tenant(alice_tenant).get()
    supply = Supply.objects.for_tenant(alice_tenant).get()
    line = ConnectionEntry.objects.for_tenant(alice_tenant).order_by("id").last()
    envelope = emitted(alice_tenant)[-1]
    assert (stored.status, stored.ended_at, stored.days_with_data) == (
        "success",
        NOON,
        28,
    )
    assert (supply.attempted_at, supply.attempt_failed) == (NOON, False)
    assert (supply.sent_count, supply.newest_data) == (0, None)
    assert envelope["event_type"] == "historical.data.heartrate.created"
    assert envelope["data"] == {
        "user_id": str(connection.user.uuid),
        "start_date": "2026-02-07T12:00:00+00:00",
        "end_date": "2026-03-09T12:00:00+00:00",
        "provider": "oura",
    }
    schema = load_event_types()["historical.data.heartrate.created"].schema
    validate(envelope["data"], schema)
    assert (line.kind, line.detail) == ("history", "heartrate")


@pytest.mark.parametrize(
    ("is_history", "error_type", "status"),
    [(True, "http_503", "failure"), (False, "", "success")],
)
def test_a_failure_and_a_refresh_tell_nothing_of_the_past(
    connection, alice_tenant, is_history, error_type, status
):
    pull = pull_of(connection, is_history=is_history)
    start_data_pull(pull=pull)

    end_data_pull(pull=pull, actor=ACTOR, error_type=error_type)

    stored = Pull.objects.for_tenant(alice_tenant).get()
    supply = Supply.objects.for_tenant(alice_tenant).get()
    assert (stored.status, stored.error_type) == (status, error_type)
    assert supply.attempt_failed == bool(error_type)
    assert emitted_types(alice_tenant) == ["provider.connection.created"]


def test_a_pull_that_is_put_back_goes_on_where_it_stood(connection, alice_tenant):
    pull = pull_of(connection)
    start_data_pull(pull=pull)
    store_pull_position(pull=pull, position="2026-02-20")
    postpone_data_pull(pull=pull, reason="rate_limited")

    start_data_pull(pull=pull)
    start_data_pull(pull=pull)  # its worker died, and another goes on

    stored = Pull.objects.for_tenant(alice_tenant).get()
    assert (stored.status, stored.position) == ("started", "2026-02-20")
    assert (stored.attempts, stored.started_at) == (3, NOON)


def test_disconnecting_ends_open_pulls_and_what_ran_finds_out(connection, alice_tenant):
    pull = pull_of(connection)
    start_data_pull(pull=pull)
    disconnect_source(user=connection.user, actor=ACTOR, provider="oura")
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        end_data_pull(pull=pull, actor=ACTOR, days_with_data=1)

    stored = Pull.objects.for_tenant(alice_tenant).get()
    assert refusal.value.code == "transition_not_allowed"
    assert (stored.status, stored.error_type) == ("failure", "disconnected")
    assert stored_rows(alice_tenant) == before


def test_a_backfill_done_in_one_go_is_kept_and_told(connection, alice_tenant):
    pull = record_completed_backfill(
        connection=connection,
        actor=ACTOR,
        resource="heartrate",
        range_start=START,
        range_end=NOON,
        days_with_data=30,
    )

    assert Pull.objects.for_tenant(alice_tenant).get() == pull
    assert (pull.status, pull.ended_at) == ("success", NOON)
    assert emitted_types(alice_tenant)[-1] == "historical.data.heartrate.created"


def test_old_pulls_go_but_for_those_that_later_ones_stand_on(
    connection, alice_tenant, time_machine
):
    kept = []
    for is_history, error_type in ((True, ""), (False, ""), (False, "http_503")):
        pull = pull_of(connection, is_history=is_history)
        start_data_pull(pull=pull)
        end_data_pull(pull=pull, actor=ACTOR, error_type=error_type)
        kept.append(pull)
    time_machine.move_to(NOON + timedelta(days=63), tick=False)
    assert delete_old_pulls() == 0
    latest = pull_of(connection, is_history=False)
    start_data_pull(pull=latest)
    end_data_pull(pull=latest, actor=ACTOR)

    assert delete_old_pulls() == 2

    left = Pull.objects.for_tenant(alice_tenant).order_by("id")
    assert list(left) == [kept[0], latest]
